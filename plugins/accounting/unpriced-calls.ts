import type { AdmissionRequest, PricingSource } from 'model-gateway/accounting'
import type { UnpricedReason } from 'model-gateway/provider'
import type { Usage } from 'model-gateway/wire'
import { scopeKeys } from './scopes.ts'
import type { Exhausted, Spend } from './spend.ts'
import { utcDay } from './window.ts'

/** Zero usage. It has no price only if the model is missing in the price list. */
const NOTHING: Usage = {
  uncachedInput: 0,
  cacheRead: undefined,
  cacheWrite: undefined,
  output: undefined,
  reasoning: undefined,
  promptTokens: 0,
  totalTokens: 0,
}
/** Minimum usage of calls of an operation; other operations may be sold only by their pieces. */
const LEAST: Readonly<Record<string, Partial<Usage>>> = {
  chat_completions: { uncachedInput: 1, output: 1 },
  completions: { uncachedInput: 1, output: 1 },
  responses: { uncachedInput: 1, output: 1 },
  embeddings: { uncachedInput: 1 },
}
/** Maximum number of remembered kinds of calls; the oldest is forgotten. */
const MOST_KINDS = 10_000

/** The reason for refusing a call, and the budget that refuses it. */
export interface RefusedUnpriced extends Exhausted {
  readonly reason: UnpricedReason
  /** Known from an earlier call of the kind, and only for this window. */
  readonly seen: boolean
}

/**
 * Unpriced calls, for budgets that refuse them: calls of models without a price, and for the rest
 * of the window calls of a kind whose reply could not be priced. Only this process remembers them.
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
    /** The reason to refuse the call; undefined if it is allowed. */
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

    /** Records that a reply could not be priced, so that further calls of its kind are refused. */
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
