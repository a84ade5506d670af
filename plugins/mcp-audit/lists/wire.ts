import { type Static, Type } from 'model-gateway/plugin'
import { Instant, nullable, oneOf, Text } from '../../_shared/schema.ts'

export const statuses = [
  'started',
  'success',
  'tool_error',
  'unauthorized',
  'policy_denied',
  'upstream_error',
  'gateway_error',
  'timeout',
  'cancelled',
  'incomplete',
  'invalid_request',
] as const
export const policyResults = ['allowed', 'denied', 'not_evaluated'] as const

const members = {
  mcp_tool_invocation_id: Text,
  occurred_at: Type.String({ format: 'date-time', description: 'When the call was made.' }),
  request_id: Text,
  jsonrpc_id: nullable(Type.String({ description: 'JSON-RPC id from the caller.' })),
  jsonrpc_id_type: nullable(oneOf(['string', 'number'])),
  session_hash: nullable(Type.String({ description: 'SHA-256 of the session id.' })),
  protocol_version: nullable(Text),
  owner_kind: oneOf(['user', 'service_account']),
  user_id: nullable(Text),
  service_account_id: nullable(Text),
  owner_name: nullable(Type.String({ description: 'null: the owner was deleted' })),
  team_id: nullable(Text),
  api_key_id: Text,
  server_id: nullable(Text),
  server_key: Text,
  tool_id: nullable(Type.String({ description: 'null: discovery has not found the tool' })),
  tool_name: Text,
  status: oneOf(statuses),
  policy_result: oneOf(policyResults),
  latency_ms: nullable(Type.Integer()),
  error_code: nullable(Text),
  guardrail_decision_id: nullable(Text),
  response_bytes: nullable(Type.Integer()),
  argument_metadata: Type.Unknown({ description: 'The names of the arguments.' }),
  result_metadata: Type.Unknown({ description: 'The kinds of content; null: no result was seen.' }),
  finished_at: nullable(Instant),
  has_payload: Type.Boolean(),
}
export const Item = Type.Object(members)
export const Detail = Type.Object({
  ...members,
  payload: nullable(
    Type.Object(
      {
        arguments: Type.Unknown(),
        arguments_truncated: Type.Boolean(),
        result: Type.Unknown(),
        result_truncated: Type.Boolean(),
      },
      { description: 'Sanitised and limited in size; null: not stored' },
    ),
  ),
})

/** A row of the database, without the names of owners. */
export type Unnamed<T> = Omit<T, 'owner_name'>
export type InvocationRow = Unnamed<Static<typeof Item>>
export type DetailRow = Unnamed<Static<typeof Detail>>
