import type { JsonValue } from 'model-gateway/plugin'
import { type CloudToolSpec, judgeCloudTool } from '../_shared/cloud-tools.ts'
import type { Finding, ToolCall } from '../_shared/command-pack.ts'
import { identityWords, onServer } from '../_shared/tool-identity.ts'
import { wordSet } from '../_shared/word-lists.ts'
import { judgeCommand } from './commands.ts'
import { deletes, judgeInput } from './inputs.ts'
import { serverWords, toolPhrases, toolVerbs } from './rules.ts'

const sqlArguments = wordSet(`
  query query_string sql sqls statement statements sql_statements transact_statements
`)
const batchArguments: ReadonlySet<string> = new Set([
  'change_batch',
  'request_items',
  'transact_items',
  'changes',
])

const spec: CloudToolSpec = {
  isServer: (call) => onServer(call, (word) => serverWords.has(word)),
  verbs: toolVerbs,
  phrases: toolPhrases,
  executables: ['aws'],
  ruleId: 'tool',
  command: judgeCommand,
  sqlArguments,
  destroys,
  argument: judgeBatch,
}

/** Judges a call of a tool on one of the provider's servers. */
export function judgeTool(call: ToolCall): Finding | undefined {
  return judgeCloudTool(call, spec)
}

function destroys(statement: string, call: ToolCall): boolean {
  // A file that only the caller has cannot be read.
  if (/^\s*fileb?:\/\//.test(statement)) return true
  const isTable = (word: string) => word === 'dynamodb'
  const kind = identityWords(call.tool).some(isTable) || onServer(call, isTable) ? 'partiql' : 'sql'
  return judgeInput(statement, kind) !== undefined
}

function judgeBatch(name: string, value: JsonValue, path: string): Finding | undefined {
  if (!batchArguments.has(name)) return undefined
  const denied = typeof value === 'string' ? judgeInput(value, 'batch') : deletes(value) && 'batch'
  return denied ? { ruleId: denied, matchedField: path } : undefined
}
