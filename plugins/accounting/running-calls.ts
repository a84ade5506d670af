import type { DispatchedCall } from 'model-gateway/accounting'
import { scopeKeys } from './scopes.ts'
import type { Charge, Exhausted, Spend } from './spend.ts'
import { utcDay } from './window.ts'

/**
 * Cost so far of running streams with a hard limit, in memory. All of them count in their scopes,
 * so that concurrent streams share the remaining budget.
 */
export function createRunningCalls(spend: Spend) {
  const charges = new Map<string, Charge>()

  return {
    /** Records the cost of a call so far; returns the hard limit that it uses up, if any. */
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

    /** Called when the call has ended. */
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
