import {
  type Accounting,
  type AdmissionRequest,
  type Clock,
  GatewayError,
  type PricingSource,
  type Settlement,
  type SettlementRequest,
  type Usage,
} from 'model-gateway/plugin'
import type { Logger } from 'pino'
import { createGroupCommit } from './group-commit.ts'
import { ledgerRow, priced, safeText, usageMissing } from './row.ts'
import type { Store } from './store.ts'

/** Rows of one statement; keeps it well below what a server takes a moment to parse. */
const MAX_BATCH = 500

export interface AccountingOptions {
  readonly store: Store
  readonly pricing: () => PricingSource
  readonly clock: Clock
  readonly log: Logger
}

/** `drained` resolves when all that was admitted and settled so far is in the database. */
export function createAccounting(
  options: AccountingOptions,
): Accounting & { drained(): Promise<void> } {
  const { store, pricing, clock, log } = options
  const ledger = createGroupCommit(store.writeLedger, MAX_BATCH)
  const claims = createGroupCommit(store.claim, MAX_BATCH)

  async function claim(call: AdmissionRequest): Promise<void> {
    const claimId = Bun.randomUUIDv7()
    const granted = await claims
      .add({
        claim_id: claimId,
        request_id: safeText(call.requestId),
        ownership_scope_key: call.principal.ownershipScopeKey,
      })
      .catch(storeUnavailable)
    if (granted.has(claimId)) return
    throw new GatewayError(
      'invalid_request',
      'this request id was used before: send another x-request-id for each call, or none',
    )
  }

  /** A claim that cannot be released expires by itself. */
  async function release(call: SettlementRequest): Promise<void> {
    try {
      await store.release(safeText(call.requestId), call.principal.ownershipScopeKey)
    } catch (error) {
      log.warn({ err: error, request_id: call.requestId }, 'request id stays claimed for a while')
    }
  }

  return {
    checkOwner() {},
    abortDrainMs: () => 10_000,

    admit(call) {
      if (call.callerChoseRequestId) return claim(call)
    },

    async settle(call): Promise<Settlement> {
      const usage = call.usage !== undefined && isKnown(call.usage) ? call.usage : undefined
      if (usage === undefined && !call.succeeded) {
        if (call.callerChoseRequestId) await release(call)
        return { kind: 'none' }
      }
      const charge =
        usage === undefined
          ? usageMissing
          : priced(
              pricing().resolve({
                identity: call.pricing,
                usage,
                billingModifiers: call.billingModifiers,
                at: call.dispatchedAt,
              }),
              usage.doubt,
            )
      const row = ledgerRow(call, charge, clock.now())
      const lost = await ledger.add(row).catch(storeUnavailable)
      if (lost.has(row.event_id)) {
        log.warn(
          { request_id: call.requestId, ownership_scope_key: row.ownership_scope_key },
          'the ledger already had this request: its charge was kept as rejected',
        )
      }
      const { pricingStatus, unpricedReason, costPicoUsd } = charge
      return { kind: 'ledger', pricingStatus, unpricedReason, costPicoUsd }
    },

    async drained() {
      await Promise.all([ledger.drained(), claims.drained()])
    },
  }
}

/** Usage without a single count says no more than none at all. */
function isKnown({ uncachedInput, cacheRead, cacheWrite, output }: Usage): boolean {
  return (uncachedInput ?? cacheRead ?? cacheWrite ?? output) !== undefined
}

function storeUnavailable(cause: unknown): never {
  throw new GatewayError('store_unavailable', 'the ledger cannot be written at the moment', {
    cause,
  })
}
