import type { Directory } from 'model-gateway/plugin'
import { usd } from '../_shared/money.ts'
import { Count, Instant, nullable, Text } from '../_shared/schema.ts'
import { ownerMembers, Usd } from './budget-wire.ts'
import { ownerName } from './owner-names.ts'
import type { Charge } from './report-store.ts'

/** What every row of the ledger and every charge that is kept out of it tells. */
export const chargeMembers = {
  event_id: Text,
  request_id: Text,
  ...ownerMembers,
  api_key_id: Text,
  operation: Text,
  model_key: Text,
  resolved_model_key: Text,
  provider_key: Text,
  upstream_model: Text,
  pricing_status: Text,
  prompt_tokens: nullable(Count),
  completion_tokens: nullable(Count),
  total_tokens: nullable(Count),
  cost_usd: nullable(Usd('What the call cost')),
  dispatched_at: Instant,
  occurred_at: Instant,
}

export function wireCharge<T extends Charge>(charge: T, directory: Directory) {
  const { cost_pico_usd, dispatched_at, occurred_at, ...rest } = charge
  return {
    ...rest,
    owner_name: ownerName({ kind: charge.owner_kind, id: charge.owner_id }, directory),
    cost_usd: cost_pico_usd === null ? null : usd(cost_pico_usd),
    dispatched_at: dispatched_at.toISOString(),
    occurred_at: occurred_at.toISOString(),
  }
}
