import { type AdmissionRequest, GatewayError } from 'model-gateway/plugin'
import type { Logger } from 'pino'
import { createGroupCommit } from '../_shared/group-commit.ts'
import type { Reach } from './reach.ts'
import type { LedgerRow } from './row.ts'
import { safeText } from './safe-text.ts'
import type { Store } from './store.ts'

const MAX_BATCH = 500

type Identified = Pick<AdmissionRequest, 'requestId' | 'principal'>
type Row = Pick<LedgerRow, 'request_id' | 'ownership_scope_key'>

/** Ids that callers chose: each may be used once by its owner. */
export interface RequestIds {
  /** Throws GatewayError `invalid_request` when the id has been used. */
  claim(call: Identified): Promise<void>
  /** The call left no row, so its id can be used again. */
  release(call: Identified): Promise<void>
  /** From now on this process refuses the id of the row, whatever the database says. */
  hold(row: Row): void
  /** The database knows the row of the id, or there will be none. */
  forget(row: Row): void
  drained(): Promise<void>
}

export function createRequestIds(options: {
  readonly store: Pick<Store, 'claim' | 'release'>
  readonly reach: Reach
  readonly log: Logger
}): RequestIds {
  const { store, reach, log } = options
  /** From the claim until the row is in the database: what decides while that is away. */
  const held = new Set<string>()
  const claims = createGroupCommit<Parameters<Store['claim']>[0][number], Granted>(
    async (batch) => {
      if (reach.away) return 'all'
      return await reach.call(() => store.claim(batch)).catch(() => 'all' as const)
    },
    MAX_BATCH,
  )

  return {
    async claim({ requestId, principal }) {
      const row = {
        request_id: safeText(requestId),
        ownership_scope_key: principal.ownershipScopeKey,
      }
      const key = keyOf(row)
      if (held.has(key)) throw duplicate()
      held.add(key)
      const claimId = Bun.randomUUIDv7()
      const granted = await claims.add({ claim_id: claimId, ...row })
      if (granted === 'all' || granted.has(claimId)) return
      held.delete(key)
      throw duplicate()
    },
    async release({ requestId, principal }) {
      const row = {
        request_id: safeText(requestId),
        ownership_scope_key: principal.ownershipScopeKey,
      }
      try {
        if (!reach.away) {
          await reach.call(() => store.release(row.request_id, row.ownership_scope_key))
        }
      } catch (err) {
        // It expires by itself.
        log.warn({ err, request_id: requestId }, 'request id stays claimed for a while')
      } finally {
        held.delete(keyOf(row))
      }
    },
    hold(row) {
      held.add(keyOf(row))
    },
    forget(row) {
      if (held.size > 0) held.delete(keyOf(row))
    },
    drained: claims.drained,
  }
}

type Granted = ReadonlySet<string> | 'all'

/** Neither part has a space. */
function keyOf({ request_id, ownership_scope_key }: Row): string {
  return `${ownership_scope_key} ${request_id}`
}

function duplicate(): GatewayError {
  return new GatewayError(
    'invalid_request',
    'this request id was used before: send another x-request-id for each call, or none',
  )
}
