import { Type } from 'model-gateway/plugin'
import { Count, Instant, nullable, oneOf, Text } from '../../_shared/schema.ts'
import { Usd } from '../_shared/frame.ts'

const Attempt = Type.Object({
  attempt_number: Type.Integer({ description: 'From 1.' }),
  provider_key: Text,
  provider_type: Text,
  route_id: Text,
  upstream_model: Text,
  status: Text,
  started_at: Instant,
  latency_ms: Count,
  first_byte_ms: nullable(Count),
  upstream_status: nullable(Count),
  upstream_request_id: nullable(Text),
  error_code: nullable(Text),
  error_message: nullable(Text),
})

const PayloadPolicy = Type.Object({
  capture_mode: Text,
  request_max_bytes: Count,
  response_max_bytes: Count,
  stream_max_events: Count,
  version: Type.String({ examples: ['builtin:v1'] }),
})

const members = {
  request_log_id: Text,
  occurred_at: Type.String({ format: 'date-time', description: 'When the request ended.' }),
  request_id: Text,
  owner_kind: nullable(
    oneOf(['user', 'service_account'], { description: 'null: authentication failed' }),
  ),
  owner_name: nullable(Text),
  user_id: nullable(Text),
  service_account_id: nullable(Text),
  team_id: nullable(Text),
  team_name: nullable(Text),
  api_key_id: nullable(Text),
  model_key: nullable(Type.String({ description: 'Requested model.' })),
  resolved_model_key: nullable(Text),
  provider_key: nullable(Text),
  upstream_model: nullable(Text),
  operation: Text,
  stream: Type.Boolean(),
  status_code: Count,
  outcome: Text,
  error_code: nullable(Text),
  error_message: nullable(Text),
  latency_ms: Count,
  prompt_tokens: nullable(Count),
  completion_tokens: nullable(Count),
  total_tokens: nullable(Count),
  cache_read_tokens: nullable(Count),
  cache_write_tokens: nullable(Count),
  reasoning_tokens: nullable(Count),
  pricing_status: nullable(Text),
  cost_usd: nullable(Usd),
  service: nullable(Text),
  component: nullable(Text),
  env: nullable(Text),
  tags: Type.Record(Text, Text, { description: 'All tags, including service, component and env.' }),
  user_agent: nullable(Text),
  agent_harness_key: Text,
  agent_harness_label: Text,
  exposed_tool_count: nullable(Count),
  invoked_tool_count: nullable(Count),
  referenced_mcp_server_count: nullable(Count),
  filtered_tool_count: nullable(Count),
  has_payload: Type.Boolean(),
  request_payload_truncated: Type.Boolean(),
  response_payload_truncated: Type.Boolean(),
  config_version: Text,
  payload_policy: nullable(PayloadPolicy),
  metadata_json: Type.Object({}, { additionalProperties: true }),
  attempts: Type.Array(Attempt),
}

export const RequestLog = Type.Object(members)

export const RequestLogDetail = Type.Object({
  ...members,
  payload: nullable(
    Type.Object({
      request: Type.Unknown({ description: '{headers, body}, sanitised' }),
      response: Type.Unknown({ description: '{body}, or {stream, events, usage, error}' }),
    }),
  ),
})
