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

/** The cost of a finished call, or the reason why it has none. */
export interface Price {
  readonly pricingStatus: PricingStatus
  readonly unpricedReason?: UnpricedReason
  readonly costPicoUsd?: bigint
  readonly rateId?: string | undefined
  readonly source?: string | undefined
  readonly items?: readonly LineItem[] | undefined
  /** Why the counters are inconsistent. */
  readonly doubt?: string | undefined
}

/** Maximum of the ledger's cost column: 9.2 million USD. */
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

/** The price of a successful call with unknown usage, with the reason. */
export function usageMissing(doubt?: string): Price {
  return { pricingStatus: 'usage_missing', doubt }
}

/**
 * Maximum bytes of a model name in UTF-8, because index entries of reports contain several names.
 */
const MAX_MODEL_BYTES = 400

/**
 * Throws `invalid_request` for a model name that the ledger cannot store. Wildcards allow any name.
 */
export function requireStorable({ resolvedModel, upstreamModel }: AdmissionRequest): void {
  for (const name of [resolvedModel, upstreamModel]) {
    // A UTF-16 unit takes at most three bytes.
    const fits = name.length * 3 <= MAX_MODEL_BYTES || Buffer.byteLength(name) <= MAX_MODEL_BYTES
    if (fits && storable(name) === name) continue
    const message = `model: must have at most ${MAX_MODEL_BYTES} bytes, without NUL or invalid characters`
    throw new GatewayError('invalid_request', message)
  }
}

/** A ledger row as it is sent to the database: columns by name, absent ones null. */
export type LedgerRow = ReturnType<typeof ledgerRow>

/**
 * `scopeKeys` of the call; `rejection` is the reason why the charge must not go into the ledger.
 */
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

/** Prices are strings, because they exceed the precision of JSON numbers. */
function storedItem({ unit, quantity, picoUsdPerUnit }: LineItem) {
  return [safeText(unit), quantity, picoUsdPerUnit.toString()] as const
}

/** The charge of a spooled row; undefined if it costs nothing. */
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

/** Replaces values that no counter can have, because they would fail the whole batch. */
function count(tokens: number | undefined): number | undefined {
  return Number.isSafeInteger(tokens) && (tokens ?? -1) >= 0 ? tokens : undefined
}
