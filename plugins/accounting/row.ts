import type {
  PriceResolution,
  PricingStatus,
  SettlementRequest,
  UnpricedReason,
} from 'model-gateway/plugin'
import { scopeKeys } from './scopes.ts'

/** What a finished call costs, and why it may cost nothing. */
export interface Charge {
  readonly pricingStatus: PricingStatus
  readonly unpricedReason: UnpricedReason | undefined
  readonly costPicoUsd: bigint | undefined
  readonly rateId: string | undefined
  /** Why the counters cannot all be true. */
  readonly doubt: string | undefined
}

/** Largest cost that the ledger's column holds: 9.2 million USD. */
const MAX_COST = 2n ** 63n - 1n

/** The charge of a call with usage. */
export function priced(price: PriceResolution, doubt: string | undefined): Charge {
  if (price.status === 'unpriced') {
    return {
      pricingStatus: 'unpriced',
      unpricedReason: price.reason,
      costPicoUsd: undefined,
      rateId: undefined,
      doubt,
    }
  }
  const { status, costPicoUsd, rateId } = price
  if (costPicoUsd > MAX_COST) {
    return {
      pricingStatus: 'legacy_estimated',
      unpricedReason: undefined,
      costPicoUsd: MAX_COST,
      rateId,
      doubt: `cost of ${costPicoUsd} pico-USD is more than one row can hold`,
    }
  }
  return { pricingStatus: status, unpricedReason: undefined, costPicoUsd, rateId, doubt }
}

/** The charge of a call that succeeded and whose usage nobody knows. */
export const usageMissing: Charge = {
  pricingStatus: 'usage_missing',
  unpricedReason: undefined,
  costPicoUsd: undefined,
  rateId: undefined,
  doubt: undefined,
}

/** A ledger row as it is sent to the database: columns by name, absent ones null. */
export type LedgerRow = ReturnType<typeof ledgerRow>

export function ledgerRow(call: SettlementRequest, charge: Charge, occurredAt: Date) {
  const { principal, usage, pricing } = call
  const { owner } = principal
  const user = owner.kind === 'user'
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
    rate_id: charge.rateId,
    pricing_status: charge.pricingStatus,
    unpriced_reason: charge.unpricedReason,
    usage_doubt: charge.doubt && safeText(charge.doubt),
    prompt_tokens: count(usage?.promptTokens),
    completion_tokens: count(usage?.output),
    total_tokens: count(usage?.totalTokens),
    uncached_input_tokens: count(usage?.uncachedInput),
    cache_read_tokens: count(usage?.cacheRead),
    cache_write_tokens: count(usage?.cacheWrite),
    reasoning_tokens: count(usage?.reasoning),
    cost_pico_usd: charge.costPicoUsd?.toString(),
    dispatched_at: call.dispatchedAt.toISOString(),
    occurred_at: occurredAt.toISOString(),
    scope_keys: scopeKeys(call).map(safeText),
  }
}

/** What no counter can be would make the whole batch fail. */
function count(tokens: number | undefined): number | undefined {
  return Number.isSafeInteger(tokens) && (tokens ?? -1) >= 0 ? tokens : undefined
}

const MAX_TEXT = 512
const UNSAFE = /[\0\ud800-\udfff]/

/** One text that Postgres refuses would make the whole batch fail: no NUL, no half character. */
export function safeText(text: string): string {
  const capped = text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) : text
  return UNSAFE.test(capped) ? capped.replaceAll('\0', '').toWellFormed() : capped
}
