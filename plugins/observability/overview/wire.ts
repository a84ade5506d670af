import { Type } from 'model-gateway/plugin'
import { Count, Instant, nullable, Text } from '../../_shared/schema.ts'
import { OwnerKind, Usd } from '../_shared/frame.ts'

export const Share = Type.Number({ minimum: 0, description: '1 means 100 %.' })
export const Key = (description: string) => nullable(Type.String({ description }))

export const RecentAttempts = Type.Object({
  provider_key: Text,
  model_key: Key('The resolved model.'),
  attempt_count: Count,
  success_count: Count,
  error_count: Count,
  client_abort_count: Count,
  latency_p50_ms: nullable(Count),
  latency_p95_ms: nullable(Count),
  first_byte_p50_ms: nullable(Count),
  last_attempt_at: Instant,
  last_error_at: nullable(Instant),
  last_error_code: nullable(Text),
})

export const NearBudget = Type.Object({
  budget_id: Text,
  scope_key: Text,
  owner_kind: OwnerKind,
  owner_id: Text,
  owner_name: nullable(Text),
  cadence: Text,
  amount_usd: Usd,
  current_window_spend_usd: Usd,
  current_window_rejected_usd: Usd,
  used_share: Share,
})
