import { type CloudToolSpec, judgeCloudTool } from '../_shared/cloud-tools.ts'
import type { Finding, ToolCall } from '../_shared/command-pack.ts'
import { judgeSql } from '../_shared/sql.ts'
import { identityWords, onServer } from '../_shared/tool-identity.ts'
import { judgeCommand } from './commands.ts'
import { serverPairs, serverWords, toolPhrases, toolVerbs } from './rules.ts'

const sqlArguments: ReadonlySet<string> = new Set([
  'sql',
  'query',
  'statement',
  'statements',
  'ddl',
])

const spec: CloudToolSpec = {
  isServer,
  verbs: toolVerbs,
  phrases: toolPhrases,
  executables: ['gcloud', 'gsutil', 'bq'],
  ruleId: 'tool',
  command: judgeCommand,
  sqlArguments,
  destroys: (statement) => judgeSql(statement, 'any') !== undefined,
}

/** Judges a call of a tool on one of the provider's servers. */
export function judgeTool(call: ToolCall): Finding | undefined {
  return judgeCloudTool(call, spec)
}

function isServer(call: ToolCall): boolean {
  if (call.server === undefined) return false
  if (onServer(call, (word) => serverWords.has(word))) return true
  return [call.server.key, ...call.server.aliases].some((name) => {
    const words = identityWords(name)
    return serverPairs.some((pair) => pair.every((word) => words.includes(word)))
  })
}
