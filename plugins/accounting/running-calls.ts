import type { DispatchedCall } from 'model-gateway/accounting'
import { scopeKeys } from './scopes.ts'
import type { Charge, Exhausted, Spend } from './spend.ts'
import { utcDay } from './window.ts'

/**
 * What streams with a hard limit have cost so far, in memory: all of them count in their scopes, so
 * that streams that run at the same time do not each have the whole of what is left.
 */
export function createRunningCalls(spend: Spend) {
  const charges = new Map<string, Charge>()

  return {
    /** Notes what a call has cost so far; returns the hard limit that is used up with it. */
    note(call: DispatchedCall, costPicoUsd: bigint): Exhausted | undefined {
      const key = keyOf(call)
      const before = charges.get(key)
      if (before !== undefined) spend.unrun(before)
      const keys = scopeKeys(call)
      const day = utcDay(call.dispatchedAt)
      const charge = { scopeKeys: keys, day, costPicoUsd, rejected: false }
      charges.set(key, charge)
      spend.run(charge)
      return spend.exhausted(keys, day)
    },

    /** The call is over. */
    end(call: DispatchedCall): void {
      const key = keyOf(call)
      const charge = charges.get(key)
      if (charge === undefined) return
      charges.delete(key)
      spend.unrun(charge)
    },
  }
}

function keyOf({ requestId, principal }: DispatchedCall): string {
  return `${principal.ownershipScopeKey} ${requestId}`
}
