import type {
  AdmissionRequest,
  LineItem,
  PriceResolution,
  PricingStatus,
  SettlementRequest,
} from 'model-gateway/accounting'
import { GatewayError } from 'model-gateway/plugin'
import type { UnpricedReason } from 'model-gateway/provider'
import { safeText, storable } from '../_shared/safe-text.ts'
import type { Charge } from './spend.ts'
import { utcDay } from './window.ts'

/** What a finished call costs, and why it may cost nothing. */
export interface Price {
  readonly pricingStatus: PricingStatus
  readonly unpricedReason?: UnpricedReason
  readonly costPicoUsd?: bigint
  readonly rateId?: string | undefined
  readonly source?: string | undefined
  readonly items?: readonly LineItem[] | undefined
  /** Why the counters cannot all be true. */
  readonly doubt?: string | undefined
}

/** Largest cost that the ledger's column holds: 9.2 million USD. */
const MAX_COST = 2n ** 63n - 1n

/** The price of a call with usage. */
export function priced(price: PriceResolution, ofUsage: string | undefined): Price {
  if (price.status === 'unpriced') {
    return { pricingStatus: 'unpriced', unpricedReason: price.reason, doubt: ofUsage }
  }
  const doubt = ofUsage ?? price.doubt
  const { status, costPicoUsd, rateId, source, items } = price
  if (costPicoUsd > MAX_COST) {
    return {
      pricingStatus: 'legacy_estimated',
      costPicoUsd: MAX_COST,
      rateId,
      doubt: `cost of ${costPicoUsd} pico-USD exceeds the maximum of a ledger row`,
    }
  }
  return { pricingStatus: status, costPicoUsd, rateId, source, items, doubt }
}

/** The price of a call that succeeded and whose usage is not known, and why. */
export function usageMissing(doubt?: string): Price {
  return { pricingStatus: 'usage_missing', doubt }
}

/** Longest name of a model, in bytes of UTF-8: rows of reports are found by several of them. */
const MAX_MODEL_BYTES = 400

/** Throws `invalid_request` for a name, covered by a wildcard, under which nothing could be counted. */
export function requireStorable({ resolvedModel, upstreamModel }: AdmissionRequest): void {
  for (const name of [resolvedModel, upstreamModel]) {
    // A UTF-16 unit takes three bytes at most.
    const fits = name.length * 3 <= MAX_MODEL_BYTES || Buffer.byteLength(name) <= MAX_MODEL_BYTES
    if (fits && storable(name) === name) continue
    const message = `model: must have at most ${MAX_MODEL_BYTES} bytes, without NUL or invalid characters`
    throw new GatewayError('invalid_request', message)
  }
}

/** A ledger row as it is sent to the database: columns by name, absent ones null. */
export type LedgerRow = ReturnType<typeof ledgerRow>

/** `scopeKeys` as of the call; `rejection` when the charge must not go into the ledger, and why. */
export function ledgerRow(
  call: SettlementRequest,
  price: Price,
  occurredAt: Date,
  scopeKeys: readonly string[],
  rejection: 'budget_exceeded' | undefined,
) {
  const { principal, usage, pricing } = call
  const { owner } = principal
  const user = owner.kind === 'user'
  const dispatchedAt = call.dispatchedAt.toISOString()
  return {
    event_id: Bun.randomUUIDv7(),
    request_id: safeText(call.requestId),
    ownership_scope_key: principal.ownershipScopeKey,
    owner_kind: owner.kind,
    user_id: user ? owner.userId : undefined,
    service_account_id: user ? undefined : owner.serviceAccountId,
    team_id: user ? undefined : owner.team.id,
    api_key_id: principal.apiKeyId,
    operation: call.operation,
    model_key: safeText(call.requestedModel),
    resolved_model_key: safeText(call.resolvedModel),
    provider_key: safeText(call.provider),
    upstream_model: safeText(call.upstreamModel),
    pricing_provider_id: pricing.pricingProviderId && safeText(pricing.pricingProviderId),
    pricing_model: safeText(pricing.model),
    rate_id: price.rateId,
    pricing_status: price.pricingStatus,
    unpriced_reason: price.unpricedReason,
    usage_doubt: price.doubt && safeText(price.doubt),
    prompt_tokens: count(usage?.promptTokens),
    completion_tokens: count(usage?.output),
    total_tokens: count(usage?.totalTokens),
    uncached_input_tokens: count(usage?.uncachedInput),
    cache_read_tokens: count(usage?.cacheRead),
    cache_write_tokens: count(usage?.cacheWrite),
    reasoning_tokens: count(usage?.reasoning),
    cost_pico_usd: price.costPicoUsd?.toString(),
    line_items: price.items?.map(storedItem),
    service_tier: usage?.tier && safeText(usage.tier),
    price_source: price.source && safeText(price.source),
    dispatched_at: dispatchedAt,
    occurred_at: occurredAt.toISOString(),
    utc_day: dispatchedAt.slice(0, 10),
    scope_keys: scopeKeys,
    rejection,
  }
}

/** Prices as text: they are longer than what JSON has. */
function storedItem({ unit, quantity, picoUsdPerUnit }: LineItem) {
  return [safeText(unit), quantity, picoUsdPerUnit.toString()] as const
}

/** What a row that comes out of the spool adds to the counters; undefined when that is nothing. */
export function chargeOf(row: LedgerRow): Charge | undefined {
  const costPicoUsd = BigInt(row.cost_pico_usd ?? 0)
  if (costPicoUsd === 0n) return undefined
  return {
    scopeKeys: row.scope_keys,
    day: utcDay(new Date(row.utc_day)),
    costPicoUsd,
    rejected: row.rejection !== undefined,
  }
}

/** What no counter can be would make the whole batch fail. */
function count(tokens: number | undefined): number | undefined {
  return Number.isSafeInteger(tokens) && (tokens ?? -1) >= 0 ? tokens : undefined
}
