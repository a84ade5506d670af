import type {
  Accounting,
  AdmissionRequest,
  DispatchedCall,
  Metering,
  PriceResolution,
  PricingSource,
  Settlement,
} from 'model-gateway/accounting'
import { type Clock, GatewayError } from 'model-gateway/plugin'
import type { Usage } from 'model-gateway/wire'
import type { Logger } from 'pino'
import { usd } from '../_shared/money.ts'
import type { Spool } from '../_shared/spool.ts'
import { createTokenCounter } from '../_shared/token-counter.ts'
import { errors } from './errors.ts'
import { createJournal } from './journal.ts'
import { estimate, glance, IMPLAUSIBLE, isPlausible, unknownUsage } from './measure.ts'
import { createReach } from './reach.ts'
import { createRequestIds } from './request-ids.ts'
import { ledgerRow, priced, requireStorable, usageMissing } from './row.ts'
import { createRunningCalls } from './running-calls.ts'
import { scopeKey, scopeKeys } from './scopes.ts'
import { createSpend, type Exhausted, type LowBudget } from './spend.ts'
import { CHANGES_KEPT_MS, NOTHING_SEEN, type Store } from './store.ts'
import { createUnpricedCalls, type RefusedUnpriced } from './unpriced-calls.ts'
import { LONGEST_WINDOW_DAYS, startOfDay, utcDay } from './window.ts'

/**
 * Timeout of a full reload. It is longer than that of a commit, because a reload grows with the
 * number of budgets.
 */
const LONGEST_LOOK_MS = 30_000

export interface AccountingSettings {
  readonly abortDrainMs: number
  readonly commitTimeoutMs: number
}

export interface AccountingOptions {
  readonly store: Store
  readonly pricing: () => PricingSource
  readonly settings: () => AccountingSettings
  /**
   * Opens the spool. Called once, at its first use; `adopted` is called with each row found in it.
   */
  readonly openSpool: (adopted: (record: string) => void) => Spool
  readonly clock: Clock
  readonly log: Logger
  /** Called after a reload with the budgets of which little is left. */
  readonly low: (budgets: readonly LowBudget[]) => void
}

export interface RunningAccounting extends Accounting {
  /** Reloads budgets, and counters that other replicas wrote. */
  refresh(): Promise<void>
  /** Rejects when the spool cannot be written. */
  probeSpool(): Promise<void>
  /** Writes the rows that dead processes left in the spool. */
  takeOver(): Promise<void>
  status(): { readonly spoolDepth: number; readonly away: boolean; readonly writable: boolean }
  close(): Promise<void>
}

export function createAccounting(options: AccountingOptions): RunningAccounting {
  const { store, pricing, settings, openSpool, clock, log, low } = options
  const spend = createSpend()
  const running = createRunningCalls(spend)
  const unpriced = createUnpricedCalls(spend, pricing)
  const tokens = createTokenCounter({ log })
  const reach = createReach({
    timeoutMs: () => settings().commitTimeoutMs,
    log,
    lost() {
      outages++
      void journal.startRecovery()
    },
  })
  const requestIds = createRequestIds({ store, reach, log })
  let opened: Spool | undefined
  const spool = () => {
    opened ??= openSpool((record) => journal.adopt(record))
    return opened
  }
  const journal = createJournal({
    store,
    reach,
    spool,
    spend,
    requestIds,
    log,
    replayed: () => refresh(true),
  })

  let snapshot = NOTHING_SEEN
  let lookedAt = Number.NEGATIVE_INFINITY
  let lookedOn = Number.NEGATIVE_INFINITY
  let outages = 0
  /** The value of `outages` at the last complete reload. */
  let overcome = 0
  let refreshing: Promise<void> = Promise.resolve()
  /** `complete`: reloads everything, not only changes. */
  function refresh(complete: boolean): Promise<void> {
    const done = refreshing.then(async () => {
      const today = utcDay(clock.now())
      const now = performance.now()
      // Days are forgotten over time, so reload everything when the clock was set back.
      const stale = now - lookedAt > CHANGES_KEPT_MS || today < lookedOn
      // After an outage the database may be a standby that lacks the latest transactions and reuses
      // their ids.
      const begun = outages
      const after = complete || stale || begun !== overcome ? NOTHING_SEEN : snapshot
      const from = today - LONGEST_WINDOW_DAYS
      const read = () => store.readChanges(after, from)
      const changes = await reach.patiently(read, store.ping, LONGEST_LOOK_MS)
      const lowBudgets = spend.apply(changes, today, after === NOTHING_SEEN)
      if (lowBudgets.length > 0) low(lowBudgets)
      snapshot = changes.snapshot
      lookedAt = now
      lookedOn = today
      overcome = begun
    })
    refreshing = done.catch(() => {})
    return done
  }

  function priceOf(call: DispatchedCall, usage: Usage): PriceResolution {
    return pricing().resolve({
      identity: call.pricing,
      configVersion: call.configVersion,
      usage,
      billingModifiers: call.billingModifiers,
      at: call.dispatchedAt,
    })
  }

  function logImplausible(call: DispatchedCall, { usage, request }: Metering): void {
    const { requestId, provider, upstreamModel } = call
    const message = 'the usage of the reply is implausible for the request; it is not priced'
    log.error({ requestId, provider, upstreamModel, usage, request }, message)
  }

  return {
    checkOwner({ owner }) {
      if (owner.kind === 'user') return
      const scope = { kind: owner.kind, serviceAccountId: owner.serviceAccountId } as const
      if (spend.has(scopeKey(scope))) return
      throw new GatewayError(
        errors.service_account_budget_required,
        `the service account ${owner.key} has no active budget`,
      )
    },

    abortDrainMs: () => settings().abortDrainMs,

    budgetsOf: (call, at) =>
      scopeKeys(call).flatMap((key) => {
        const state = spend.stateOf(key, utcDay(at))
        if (state === undefined) return []
        const { cadence, hardLimit, amountPicoUsd } = state.settings
        return {
          scopeKey: key,
          cadence,
          hardLimit,
          amountUsd: usd(amountPicoUsd),
          spentUsd: usd(state.spent),
          exhausted: state.exhausted,
          windowEnd: startOfDay(state.window.end).toISOString(),
        }
      }),

    admit(call) {
      requireStorable(call)
      if (!journal.writable()) throw storeUnavailable()
      if (!spend.empty()) {
        const refused = unpriced.refusal(call)
        if (refused !== undefined) throw unpricedRefused(refused, call, clock.now())
        const exhausted = spend.exhausted(scopeKeys(call), utcDay(call.dispatchedAt))
        if (exhausted !== undefined) throw budgetExceeded(exhausted, call, clock.now())
      }
      if (call.callerChoseRequestId) return requestIds.claim(call)
      requestIds.run(call)
    },

    watch(call) {
      if (!spend.limited(scopeKeys(call))) return undefined
      return ({ usage, request, partial }) => {
        if (partial === undefined) return undefined
        const stated = usage && isPlausible(usage, request) ? usage : undefined
        const price = priceOf(call, glance(stated, partial))
        if (price.status === 'unpriced') return undefined
        const exhausted = running.note(call, price.costPicoUsd)
        return exhausted && budgetExceeded(exhausted, call, clock.now())
      }
    },

    measure(call, metering) {
      const { usage, partial, request } = metering
      const isFalse = usage !== undefined && !isPlausible(usage, request)
      if (isFalse) logImplausible(call, metering)
      if (partial === undefined) return isFalse ? unknownUsage(IMPLAUSIBLE) : usage
      const stated = isFalse ? undefined : usage
      const low = glance(stated, partial)
      // Without a price, the cost does not depend on the tokens.
      if (priceOf(call, low).status === 'unpriced') return low
      return estimate(stated, partial, tokens)
    },

    async settle(call): Promise<Settlement> {
      const usage = call.usage !== undefined && isKnown(call.usage) ? call.usage : undefined
      if (usage === undefined && !call.succeeded) {
        running.end(call)
        await requestIds.release(call)
        return { kind: 'none' }
      }
      const price =
        usage === undefined
          ? usageMissing(call.usage?.doubt)
          : priced(priceOf(call, usage), usage.doubt)
      const { pricingStatus, unpricedReason, costPicoUsd = 0n } = price
      if (unpricedReason !== undefined && !spend.empty()) unpriced.note(call, unpricedReason)
      const keys = scopeKeys(call)
      const day = utcDay(call.dispatchedAt)
      const rejected = costPicoUsd > 0n && spend.overruns(keys, day, costPicoUsd)
      const charge = costPicoUsd > 0n ? { scopeKeys: keys, day, costPicoUsd, rejected } : undefined
      if (charge !== undefined) spend.add(charge)
      running.end(call)
      const rejection = rejected ? 'budget_exceeded' : undefined
      const row = ledgerRow(call, price, clock.now(), keys, rejection)
      let duplicates: ReadonlySet<string>
      try {
        duplicates = await journal.write({ row, charge })
      } catch (cause) {
        throw storeUnavailable(cause)
      }
      if (rejected || duplicates.has(row.event_id)) return { kind: 'rejected', costPicoUsd }
      return { kind: 'ledger', pricingStatus, unpricedReason, costPicoUsd: price.costPicoUsd }
    },

    async refresh() {
      if (reach.away) return
      await refresh(false)
      await requestIds.releaseLate()
    },
    probeSpool: () => spool().probe(),
    takeOver: journal.takeOver,
    status: () => ({
      spoolDepth: opened?.depth ?? 0,
      away: reach.away,
      writable: journal.writable(),
    }),
    async close() {
      tokens.close()
      await requestIds.drained()
      await journal.close()
    },
  }
}

/** Whether any tokens or pieces are counted: an image may be sold without tokens. */
function isKnown({ uncachedInput, cacheRead, cacheWrite, output, uses }: Usage): boolean {
  return (uncachedInput ?? cacheRead ?? cacheWrite ?? output ?? uses) !== undefined
}

const ownerName = ({ principal: { owner } }: Pick<DispatchedCall, 'principal'>) =>
  owner.kind === 'user' ? owner.email : `service account ${owner.key}`

/** The error for a call without a price, if a budget refuses such calls. */
function unpricedRefused(
  { scopeKey: key, settings, window, reason, seen }: RefusedUnpriced,
  call: AdmissionRequest,
  now: Date,
): GatewayError {
  const { provider, upstreamModel, pricing } = call
  const resetsAt = startOfDay(window.end)
  const seconds = Math.max(1, Math.ceil((resetsAt.getTime() - now.getTime()) / 1000))
  const why = seen
    ? `a reply of ${provider}/${upstreamModel} could not be priced in this window (${reason})`
    : `${provider}/${upstreamModel} has no price (${reason})`
  const list = pricing.pricingProviderId ?? 'a pricing_provider_id of its provider'
  return new GatewayError(
    errors.budget_exceeded,
    `the ${settings.cadence} budget of ${ownerName(call)} accepts only calls with a price (unpriced: refuse), but ${why}: set a price in pricing.overrides for ${list}, ${pricing.model}`,
    {
      details: { scope_key: key, reason: 'unpriced', unpriced_reason: reason },
      headers: {
        'x-should-retry': 'false',
        ...(seen && { 'retry-after': String(seconds) }),
      },
    },
  )
}

/** The error for a used-up budget. Coding agents stop and show the message unchanged. */
function budgetExceeded(
  exhausted: Exhausted,
  call: Pick<DispatchedCall, 'principal'>,
  now: Date,
): GatewayError {
  const { scopeKey: key, settings, window } = exhausted
  const limit = usd(settings.amountPicoUsd)
  const end = startOfDay(window.end)
  const resetsAt = end.toISOString()
  const who = ownerName(call)
  const seconds = Math.max(1, Math.ceil((end.getTime() - now.getTime()) / 1000))
  const reason = `the ${settings.cadence} budget of ${who}, ${limit} USD, is used up`
  return new GatewayError(
    errors.budget_exceeded,
    // Qwen Code stops only for messages that say "quota exceeded" and "will reset".
    `${reason}: quota exceeded, it will reset at ${resetsAt} (${key})`,
    {
      details: {
        reason,
        scope_key: key,
        cadence: settings.cadence,
        limit_usd: limit,
        window_start: startOfDay(window.start).toISOString(),
        window_end: resetsAt,
        resets_at: resetsAt,
      },
      headers: {
        'x-should-retry': 'false',
        'retry-after': String(seconds),
        // Clients that retry anyway, such as opencode, read this header first: with 0 they use up
        // their retries at once instead of over hours, and then show the message.
        'retry-after-ms': '0',
      },
    },
  )
}

function storeUnavailable(cause?: unknown): GatewayError {
  return new GatewayError('store_unavailable', 'the ledger cannot be written at the moment', {
    cause,
  })
}
