import type { AdmissionRequest } from 'model-gateway/accounting'
import { GatewayError } from 'model-gateway/plugin'
import type { Logger } from 'pino'
import { createGroupCommit } from '../_shared/group-commit.ts'
import { safeText } from '../_shared/safe-text.ts'
import type { Reach } from './reach.ts'
import type { LedgerRow } from './row.ts'
import type { Claim, Store } from './store.ts'

const MAX_BATCH = 500
/** Limit of claims to release later; others expire in the database. */
const MOST_LATE = 10_000

type Identified = Pick<AdmissionRequest, 'requestId' | 'principal'>
type Row = Pick<LedgerRow, 'request_id' | 'ownership_scope_key'>

/** Ensures that an owner uses each request id only once. */
export interface RequestIds {
  /**
   * Registers an id that the gateway generated, which therefore is unused. Callers see it before
   * the call ends.
   */
  run(call: Identified): void
  /** Throws GatewayError `invalid_request` when the id has been used. */
  claim(call: Identified): Promise<void>
  /** The call left no row, so its id can be used again. */
  release(call: Identified): Promise<void>
  /** Releases claims that could not be released during an outage. */
  releaseLate(): Promise<void>
  /** Makes this process refuse the id of the row, whatever the database says. */
  hold(row: Row): void
  /** Called when the row is in the database, or will never be. */
  forget(row: Row): void
  drained(): Promise<void>
}

export function createRequestIds(options: {
  readonly store: Pick<Store, 'claim' | 'release'>
  readonly reach: Reach
  readonly log: Logger
}): RequestIds {
  const { store, reach, log } = options
  /**
   * From the claim until the row is in the database; decides alone while the database is
   * unreachable. Undefined: not claimed in the database.
   */
  const held = new Map<string, Claim | undefined>()
  /** Claims of calls without a row that are still in the database. */
  const late = new Map<string, Claim>()
  const claims = createGroupCommit<Claim, Granted>(async (batch) => {
    if (reach.away) return 'all'
    return await reach.call(() => store.claim(batch)).catch(() => 'all' as const)
  }, MAX_BATCH)

  const putOff = (key: string, claim: Claim) => {
    if (late.size < MOST_LATE) late.set(key, claim)
  }

  async function giveBack(key: string, claim: Claim): Promise<void> {
    await reach.call(() => store.release(claim))
    late.delete(key)
  }

  return {
    run(call) {
      held.set(keyOf(rowOf(call)), undefined)
    },
    async claim(call) {
      const row = rowOf(call)
      const key = keyOf(row)
      if (held.has(key)) throw duplicate()
      const claim = { claim_id: Bun.randomUUIDv7(), ...row }
      held.set(key, claim)
      // If this release fails, the claim below finds the old claim and refuses the id.
      const earlier = late.get(key)
      if (earlier !== undefined && !reach.away) await giveBack(key, earlier).catch(() => {})
      const granted = await claims.add(claim)
      if (granted === 'all') {
        // If the claim of an earlier call still exists, this call takes it over.
        held.set(key, late.get(key) ?? claim)
        late.delete(key)
        return
      }
      if (granted.has(claim.claim_id)) return
      held.delete(key)
      throw duplicate()
    },
    async release(call) {
      const key = keyOf(rowOf(call))
      const claim = held.get(key)
      if (claim === undefined) {
        held.delete(key)
        return
      }
      try {
        if (reach.away) putOff(key, claim)
        else await reach.call(() => store.release(claim))
      } catch (err) {
        log.warn(
          { err, request_id: call.requestId },
          'failed to release the request id; will retry',
        )
        putOff(key, claim)
      } finally {
        held.delete(key)
      }
    },
    async releaseLate() {
      for (const [key, claim] of late) await giveBack(key, claim)
    },
    hold(row) {
      held.set(keyOf(row), undefined)
    },
    forget(row) {
      if (held.size > 0) held.delete(keyOf(row))
    },
    drained: claims.drained,
  }
}

function rowOf({ requestId, principal }: Identified): Row {
  return {
    request_id: safeText(requestId),
    ownership_scope_key: principal.ownershipScopeKey,
  }
}

type Granted = ReadonlySet<string> | 'all'

/** Unambiguous, because neither part contains a space. */
function keyOf({ request_id, ownership_scope_key }: Row): string {
  return `${ownership_scope_key} ${request_id}`
}

function duplicate(): GatewayError {
  return new GatewayError(
    'invalid_request',
    'x-request-id was already used: send a new one for each call, or none',
  )
}
