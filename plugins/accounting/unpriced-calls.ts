import type { AdmissionRequest, PricingSource } from 'model-gateway/accounting'
import type { UnpricedReason } from 'model-gateway/provider'
import type { Usage } from 'model-gateway/wire'
import { scopeKeys } from './scopes.ts'
import type { Exhausted, Spend } from './spend.ts'
import { utcDay } from './window.ts'

/** Nothing: what has no price for it is not in the list at all. */
const NOTHING: Usage = {
  uncachedInput: 0,
  cacheRead: undefined,
  cacheWrite: undefined,
  output: undefined,
  reasoning: undefined,
  promptTokens: 0,
  totalTokens: 0,
}
/** The least that the calls of an operation use; others may be sold by pieces of their own alone. */
const LEAST: Readonly<Record<string, Partial<Usage>>> = {
  chat_completions: { uncachedInput: 1, output: 1 },
  completions: { uncachedInput: 1, output: 1 },
  responses: { uncachedInput: 1, output: 1 },
  embeddings: { uncachedInput: 1 },
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
    const usage = { ...NOTHING, ...LEAST[operation] }
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
