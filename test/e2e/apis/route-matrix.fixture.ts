import type { GuardPhase } from '../../../kernel/plugin/index.ts'

/** What the gateway does with the requests of one data-plane route. */
export interface Row {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  /** Who may come in. */
  readonly authentication: 'api_key' | 'nobody is asked'
  /** Whether the key's grants decide what it gets to see. */
  readonly access: 'model grants' | 'any key'
  /** What can refuse a call before it is sent on. */
  readonly admission: 'budget' | 'none'
  /** Phases in which a guard can deny, in the order of the request. */
  readonly guard: readonly GuardPhase[]
  /** Where the cost of a call is booked. */
  readonly settlement: 'ledger' | 'none'
  /** Where a call can be found afterwards. */
  readonly record: 'request log' | 'MCP audit' | 'none'
}

export type Column = Exclude<keyof Row, 'method' | 'path'>

const inference = {
  method: 'POST',
  authentication: 'api_key',
  access: 'model grants',
  admission: 'budget',
  guard: ['prompt', 'model_response', 'generated_tool_call'],
  settlement: 'ledger',
  record: 'request log',
} as const
const unpaid = { authentication: 'api_key', admission: 'none', settlement: 'none' } as const

/** Every route of the data plane. A route without a row is a failure, and so is a row that is not true. */
export const matrix: readonly Row[] = [
  {
    ...unpaid,
    method: 'GET',
    path: '/v1/models',
    access: 'model grants',
    guard: [],
    record: 'none',
  },
  { ...inference, path: '/v1/chat/completions' },
  { ...inference, path: '/v1/messages' },
  // Nothing is generated, and with a guard for prompts no upstream is sent them.
  {
    ...unpaid,
    method: 'POST',
    path: '/v1/messages/count_tokens',
    access: 'model grants',
    guard: [],
    record: 'request log',
  },
  { ...inference, path: '/v1/responses' },
  // Its replies are numbers.
  { ...inference, path: '/v1/embeddings', guard: ['prompt'] },
  { ...inference, path: '/v1/moderations', guard: ['prompt'] },
  // They call no tools.
  { ...inference, path: '/v1/completions', guard: ['prompt', 'model_response'] },
  { ...inference, path: '/v1/rerank', guard: ['prompt', 'model_response'] },
  { ...inference, path: '/v2/rerank', guard: ['prompt', 'model_response'] },
  { ...inference, path: '/v1/images/generations', guard: ['prompt', 'model_response'] },
  { ...inference, path: '/v1beta/models/*' },
  { ...inference, path: '/v1/models/*' },
  {
    ...unpaid,
    method: 'POST',
    path: '/mcp/:server_key',
    access: 'any key',
    guard: ['mcp_call', 'mcp_result'],
    record: 'MCP audit',
  },
  // Late results of calls come on it, which are recorded with their calls.
  {
    ...unpaid,
    method: 'GET',
    path: '/mcp/:server_key',
    access: 'any key',
    guard: ['mcp_result'],
    record: 'none',
  },
  // The end of a session, which a server can answer with anything.
  {
    ...unpaid,
    method: 'DELETE',
    path: '/mcp/:server_key',
    access: 'any key',
    guard: ['mcp_result'],
    record: 'none',
  },
]
