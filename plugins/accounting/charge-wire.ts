import type { Directory } from 'model-gateway/identity'
import { type Static, Type } from 'model-gateway/plugin'
import { usd } from '../_shared/money.ts'
import { Count, Instant, nullable, oneOf, Text } from '../_shared/schema.ts'
import { ownerMembers, Usd } from './budget-wire.ts'
import { ownerName } from './owner-names.ts'

/** Members that ledger rows and rejected charges share. */
const members = {
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
  cost_usd: nullable(Usd('Cost of the call')),
  dispatched_at: Instant,
  occurred_at: Instant,
}

const Charge = Type.Object(members)
export const Reason = oneOf(['budget_exceeded', 'duplicate_race'])
export const RejectedCharge = Type.Object({ ...members, reason: Reason })

export const LedgerEntry = Type.Object({
  ...members,
  rejection: nullable({
    ...Reason,
    description: 'Why the charge was rejected; null: it is in the ledger',
  }),
  pricing_provider_id: nullable(Type.String({ description: 'The price list that was searched' })),
  pricing_model: Type.String({ description: 'The model that was looked up in the price list' }),
  rate_id: nullable(Type.String({ description: 'The entry of the price list that was used' })),
  price_source: nullable(
    Type.String({
      description:
        'Source of the price: `snapshot`, `override`, or `seller` if the reply states it',
    }),
  ),
  service_tier: nullable(
    Type.String({ description: 'As the upstream names it; `default` is its standard tier' }),
  ),
  line_items: nullable({
    ...Type.Array(
      Type.Object({
        unit: Type.String({
          description: 'Unit that was used: `input`, `cache_read`, `web_search`, …',
        }),
        quantity: Count,
        usd_each: Usd('Price of one unit'),
        cost_usd: Usd('Cost of the quantity'),
      }),
    ),
    description:
      'Items that add up to the cost; null: no cost, or the row is older than this field',
  }),
  unpriced_reason: nullable(Text),
  usage_doubt: nullable(
    Type.String({ description: 'Why token counts are estimated, doubtful or missing' }),
  ),
  uncached_input_tokens: nullable(Count),
  cache_read_tokens: nullable(Count),
  cache_write_tokens: nullable(Count),
  reasoning_tokens: nullable(Count),
})

/** A charge as stored. */
export type Stored<Charge> = Omit<
  Charge,
  'owner_name' | 'cost_usd' | 'dispatched_at' | 'occurred_at' | 'line_items'
> & {
  readonly cost_pico_usd: bigint | null
  readonly dispatched_at: Date
  readonly occurred_at: Date
}

export function wireCharge<T extends Stored<Static<typeof Charge>>>(
  charge: T,
  directory: Directory,
) {
  const { cost_pico_usd, dispatched_at, occurred_at, ...rest } = charge
  return {
    ...rest,
    owner_name: ownerName({ kind: charge.owner_kind, id: charge.owner_id }, directory),
    cost_usd: cost_pico_usd === null ? null : usd(cost_pico_usd),
    dispatched_at: dispatched_at.toISOString(),
    occurred_at: occurred_at.toISOString(),
  }
}

/** A line item as stored, with the price in pico-USD. */
export type StoredItem = readonly [unit: string, quantity: number, picoUsdEach: string]

/** A ledger row or rejected charge, with its line items. */
export function wireEntry(
  entry: Stored<Static<typeof LedgerEntry>> & { readonly line_items: readonly StoredItem[] | null },
  directory: Directory,
): Static<typeof LedgerEntry> {
  const { line_items: items, ...rest } = entry
  return {
    ...wireCharge(rest, directory),
    line_items:
      items?.map(([unit, quantity, each]) => ({
        unit,
        quantity,
        usd_each: usd(BigInt(each)),
        cost_usd: usd(BigInt(each) * BigInt(quantity)),
      })) ?? null,
  }
}
