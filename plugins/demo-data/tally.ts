/** Sums for the roll-ups and counters of the ledger. */
export const statuses = ['priced', 'legacy_estimated', 'unpriced', 'usage_missing'] as const
export type Status = (typeof statuses)[number]

/** Sums of one owner and model in half a day. Each is far below 2^53. */
export interface LedgerSums {
  requests: number
  prompt: number
  completion: number
  uncached: number
  cacheRead: number
  reasoning: number
  cost: number
  rejectedCount: number
  rejected: number
}

/** Sums of one owner and coding agent in half a day. */
export interface HarnessSums {
  requests: number
  exposed: number
  exposedRequests: number
  invoked: number
  invokedRequests: number
}

export function noLedgerSums(): LedgerSums {
  return {
    requests: 0,
    prompt: 0,
    completion: 0,
    uncached: 0,
    cacheRead: 0,
    reasoning: 0,
    cost: 0,
    rejectedCount: 0,
    rejected: 0,
  }
}

/** Throws if a sum is not exact any more. */
export function exact(sum: number): number {
  if (!Number.isSafeInteger(sum)) throw new Error(`${sum} is too large to sum exactly`)
  return sum
}
