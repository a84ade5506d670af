import type { AdmissionRequest, PricingSource } from 'model-gateway/accounting'
import type { UnpricedReason } from 'model-gateway/provider'
import type { Usage } from 'model-gateway/wire'
import { scopeKeys } from './scopes.ts'
import type { Exhausted, Spend } from './spend.ts'
import { utcDay } from './window.ts'

/** The least that a call uses: what has no price for it has none for any. */
const LEAST: Usage = {
  uncachedInput: 1,
  cacheRead: undefined,
  cacheWrite: undefined,
  output: undefined,
  reasoning: undefined,
  promptTokens: 1,
  totalTokens: 1,
}
/** Kinds of calls that are remembered at most; the oldest is forgotten. */
const MOST_KINDS = 10_000

/** Why a call is refused, and the budget that does so. */
export interface RefusedUnpriced extends Exhausted {
  readonly reason: UnpricedReason
  /** It is known of an earlier call of its kind, and only for the window. */
  readonly seen: boolean
}

/**
 * Calls without a price, for budgets that take none: those whose model has no price, and those of a kind
 * of which a reply could not be priced, for the rest of the window. This process remembers what it saw.
 */
export function createUnpricedCalls(spend: Spend, pricing: () => PricingSource) {
  const kinds = new Map<string, { readonly reason: UnpricedReason; readonly until: number }>()
  const keyOf = (scopeKey: string, { provider, upstreamModel, operation }: AdmissionRequest) =>
    JSON.stringify([scopeKey, provider, upstreamModel, operation])

  function unknownPrice(call: AdmissionRequest): UnpricedReason | undefined {
    const { pricing: identity, configVersion, dispatchedAt: at, operation } = call
    // Embeddings put nothing out.
    const usage = operation === 'embeddings' ? LEAST : { ...LEAST, output: 1 }
    const price = pricing().resolve({ identity, configVersion, usage, billingModifiers: [], at })
    return price.status === 'unpriced' ? price.reason : undefined
  }

  return {
    /** Why it must not be made; undefined: it may. */
    refusal(call: AdmissionRequest): RefusedUnpriced | undefined {
      const day = utcDay(call.dispatchedAt)
      const budget = spend.refusesUnpriced(scopeKeys(call), day)
      if (budget === undefined) return undefined
      const known = unknownPrice(call)
      if (known !== undefined) return { ...budget, reason: known, seen: false }
      const kind = kinds.get(keyOf(budget.scopeKey, call))
      return kind !== undefined && day < kind.until
        ? { ...budget, reason: kind.reason, seen: true }
        : undefined
    },

    /** A reply could not be priced: further ones of its kind are not made. */
    note(call: AdmissionRequest, reason: UnpricedReason): void {
      const budget = spend.refusesUnpriced(scopeKeys(call), utcDay(call.dispatchedAt))
      if (budget === undefined) return
      const key = keyOf(budget.scopeKey, call)
      kinds.delete(key)
      kinds.set(key, { reason, until: budget.window.end })
      const [oldest] = kinds.keys()
      if (kinds.size > MOST_KINDS && oldest !== undefined) kinds.delete(oldest)
    },
  }
}
