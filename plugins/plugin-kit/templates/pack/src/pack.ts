import type { GuardInput, GuardrailPack, PackMatch, PackRule } from 'model-gateway/guardrail'

const deleteProject: PackRule = {
  id: 'delete-project',
  reasonCode: 'custom.deletes_project',
  description: 'Deletes a project and everything in it.',
  saferAction: 'Archive the project; an archived project can be restored.',
}
const publicExport: PackRule = {
  id: 'public-export',
  reasonCode: 'custom.publishes_data',
  description: 'Exports data to a public address.',
  saferAction: 'Omit visibility, so that the export stays in the workspace.',
}

/** The tool's name if the call is for these tools, by its server or by the prefix of the tool. */
function toolOf(input: GuardInput): string | undefined {
  if (input.kind !== 'tool_call') return undefined
  const { server, tool } = input
  const names = server === undefined ? [] : [server.key, ...server.aliases]
  if (names.includes('sample-name')) return tool
  return tool.startsWith('sample_name.') ? tool.slice('sample_name.'.length) : undefined
}

function judge(input: GuardInput): PackMatch | undefined {
  const tool = toolOf(input)
  if (tool === undefined || input.kind !== 'tool_call') return undefined
  if (tool === 'delete_project') return match(deleteProject, 'tool')
  if (tool === 'export' && input.arguments.visibility === 'public') {
    return match(publicExport, 'visibility')
  }
  return undefined
}

/** A match never quotes the input: `matchedField` says where it matched. */
function match({ id, ...told }: PackRule, matchedField: string): PackMatch {
  return { packId: 'custom.sample_name', ruleId: id, matchedField, ...told }
}

/** Pure and synchronous: the same input always gets the same verdict. */
export const sampleNamePack: GuardrailPack = {
  id: 'custom.sample_name',
  version: '0.1.0',
  summary: 'Denies sample-name tool calls that delete projects or publish data.',
  phases: ['generated_tool_call', 'mcp_call'],
  rules: [deleteProject, publicExport],
  evaluate: judge,
  explain: (input) => ({ reading: { tool: toolOf(input) ?? null }, match: judge(input) }),
}
