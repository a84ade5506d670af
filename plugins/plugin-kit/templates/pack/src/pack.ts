import type { GuardInput, GuardrailPack, PackMatch, PackRule } from 'model-gateway/guardrail'

const deleteProject: PackRule = {
  id: 'delete-project',
  reasonCode: 'custom.deletes_project',
  description: 'Deletes a project with everything that is in it.',
  saferAction: 'Archive the project; an archived one can be brought back.',
}
const publicExport: PackRule = {
  id: 'public-export',
  reasonCode: 'custom.publishes_data',
  description: 'Exports data to an address that anybody can read.',
  saferAction: 'Leave out visibility, so that the export stays in the workspace.',
}

/** Whether the call is for this family of tools: by its server, or by the tool's own prefix. */
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

/** It never quotes what it was shown: `matchedField` says where, not what. */
function match({ id, ...told }: PackRule, matchedField: string): PackMatch {
  return { packId: 'custom.sample_name', ruleId: id, matchedField, ...told }
}

/** Pure and synchronous: the same input, the same verdict. */
export const sampleNamePack: GuardrailPack = {
  id: 'custom.sample_name',
  version: '0.1.0',
  summary: 'What the tools of sample-name delete and publish.',
  phases: ['generated_tool_call', 'mcp_call'],
  rules: [deleteProject, publicExport],
  evaluate: judge,
  explain: (input) => ({ reading: { tool: toolOf(input) ?? null }, match: judge(input) }),
}
