import { type Budget, type BudgetSettings, isExhausted, isLow } from './budget.ts'
import { LONGEST_WINDOW_DAYS, type UtcDay, type Window, windowOf } from './window.ts'

export interface Tally {
  spent: bigint
  rejected: bigint
}

/** The charge of one call for the counters of its scopes. */
export interface Charge {
  readonly scopeKeys: readonly string[]
  readonly day: UtcDay
  readonly costPicoUsd: bigint
  /** Recorded as a rejected charge, not in the ledger. */
  readonly rejected: boolean
}

/** One counter as stored. */
export interface Counter extends Readonly<Tally> {
  readonly scopeKey: string
  readonly day: UtcDay
}

/** The transactions that a read of the database saw, as a Postgres snapshot. */
export type Snapshot = string

/** Changes in the database between two reads. */
export interface Changes {
  readonly snapshot: Snapshot
  readonly budgets: readonly Budget[]
  /** All counters of the active ones among `budgets`, and changed counters of other budgets. */
  readonly counters: readonly Counter[]
}

/** A budget that refuses a call, such as one with a used-up limit. */
export interface Exhausted {
  readonly scopeKey: string
  readonly settings: BudgetSettings
  readonly window: Window
}

/** A budget of which little is left in its current window. */
export interface LowBudget {
  readonly scopeKey: string
  readonly settings: BudgetSettings
  readonly window: Window
}

interface SpendState {
  readonly settings: BudgetSettings
  readonly window: Window
  readonly spent: bigint
  readonly exhausted: boolean
}

interface Tracked {
  readonly settings: BudgetSettings
  days: Map<UtcDay, Tally>
  window: Window & Tally
}

/** Counters by scope and day. */
type Ledger = Map<string, Map<UtcDay, Tally>>

export type Spend = ReturnType<typeof createSpend>

/**
 * Spend of all scopes with a budget, in memory: the state of the database at the last read, plus
 * the charges of this process that this read did not include (being written, in the spool, or
 * committed later).
 */
export function createSpend() {
  const tracked = new Map<string, Tracked>()
  /** Charges being written, or committed by a transaction that the last read may not include. */
  const pending = new Map<Charge, bigint | undefined>()
  /** Spooled charges summed by scope, so that memory does not grow during an outage. */
  const spooled: Ledger = new Map()
  /** Lower bound of the cost of running calls. */
  const running: Ledger = new Map()
  let seen: (transaction: bigint) => boolean = () => false

  function changeScopes(charge: Charge, sign: 1n | -1n): void {
    if (tracked.size === 0) return
    for (const key of charge.scopeKeys) {
      const scope = tracked.get(key)
      if (scope === undefined) continue
      count(dayOf(scope.days, charge.day), charge, sign)
      const { window } = scope
      if (charge.day >= window.start && charge.day < window.end) count(window, charge, sign)
    }
  }

  function drop(charge: Charge): void {
    if (pending.delete(charge)) changeScopes(charge, -1n)
  }

  /** The window, including the cost so far of its running calls. */
  function withRunning(
    scopeKey: string,
    window: Window & Readonly<Tally>,
  ): Window & Readonly<Tally> {
    const days = running.get(scopeKey)
    if (days === undefined) return window
    return { ...window, spent: window.spent + sum(days, window).spent }
  }

  function windowAt(scope: Tracked, day: UtcDay): Window & Readonly<Tally> {
    const { window, settings } = scope
    if (day >= window.start && day < window.end) return window
    const other = sum(scope.days, windowOf(settings.cadence, day))
    // The current window never moves back, even for a call that was dispatched in an earlier
    // window.
    if (day >= window.end) {
      scope.window = other
      for (const old of scope.days.keys()) {
        if (old < day - LONGEST_WINDOW_DAYS) scope.days.delete(old)
      }
    }
    return other
  }

  /** Charges that the last read did not include, by scope. */
  function unseen(): Ledger {
    const ledger: Ledger = new Map()
    for (const charge of pending.keys()) {
      for (const key of charge.scopeKeys) {
        if (tracked.has(key)) count(dayOf(daysOf(ledger, key), charge.day), charge, 1n)
      }
    }
    for (const [key, days] of spooled) {
      if (!tracked.has(key)) continue
      for (const [day, tally] of days) addTally(dayOf(daysOf(ledger, key), day), tally)
    }
    return ledger
  }

  return {
    /** Whether no budget exists. */
    empty: (): boolean => tracked.size === 0,
    /** Scopes with an active budget. */
    has: (scopeKey: string): boolean => tracked.has(scopeKey),

    /** Whether one of these scopes has a hard limit. */
    limited: (scopeKeys: readonly string[]): boolean =>
      scopeKeys.some((key) => tracked.get(key)?.settings.hardLimit === true),

    /** The first budget that refuses unpriced calls, with its window on a day. */
    refusesUnpriced(scopeKeys: readonly string[], day: UtcDay): Exhausted | undefined {
      for (const scopeKey of scopeKeys) {
        const scope = tracked.get(scopeKey)
        if (scope?.settings.unpriced !== 'refuse') continue
        return { scopeKey, settings: scope.settings, window: windowAt(scope, day) }
      }
      return undefined
    },

    /** The first hard limit that is used up on a day, including running calls. */
    exhausted(scopeKeys: readonly string[], day: UtcDay): Exhausted | undefined {
      for (const scopeKey of scopeKeys) {
        const scope = tracked.get(scopeKey)
        if (scope === undefined || !scope.settings.hardLimit) continue
        const window = windowAt(scope, day)
        if (isExhausted(scope.settings, withRunning(scopeKey, window))) {
          return { scopeKey, settings: scope.settings, window }
        }
      }
      return undefined
    },

    /** The budget of a scope and what it has spent on a day's window; undefined without one. */
    stateOf(scopeKey: string, day: UtcDay): SpendState | undefined {
      const scope = tracked.get(scopeKey)
      if (scope === undefined) return undefined
      const window = windowAt(scope, day)
      const exhausted = isExhausted(scope.settings, withRunning(scopeKey, window))
      return { settings: scope.settings, window, spent: window.spent, exhausted }
    },

    /** Whether a charge would exceed a hard limit. */
    overruns(scopeKeys: readonly string[], day: UtcDay, costPicoUsd: bigint): boolean {
      for (const scopeKey of scopeKeys) {
        const scope = tracked.get(scopeKey)
        if (scope === undefined || !scope.settings.hardLimit) continue
        if (windowAt(scope, day).spent + costPicoUsd > scope.settings.amountPicoUsd) return true
      }
      return false
    },

    /** Adds the cost so far of a running call. */
    run(charge: Charge): void {
      changeLedger(running, charge, 1n)
    },
    /** Removes the cost of a running call. */
    unrun(charge: Charge): void {
      changeLedger(running, charge, -1n)
    },

    /** Counts a charge that is being written. */
    add(charge: Charge): void {
      pending.set(charge, undefined)
      changeScopes(charge, 1n)
    },
    /** Removes a charge that will never be written. */
    drop,
    /** Marks a charge as committed. */
    committed(charge: Charge, transaction: bigint): void {
      if (seen(transaction)) drop(charge)
      else pending.set(charge, transaction)
    },
    /** Marks a charge as spooled. */
    spool(charge: Charge): void {
      pending.delete(charge)
      changeLedger(spooled, charge, 1n)
    },
    /** Adds a charge from a spool file that this process has taken over. */
    adopt(charge: Charge): void {
      changeScopes(charge, 1n)
      changeLedger(spooled, charge, 1n)
    },
    /** Marks a spooled charge as being written again. */
    unspool(charge: Charge): void {
      changeLedger(spooled, charge, -1n)
      pending.set(charge, undefined)
    },

    /**
     * Applies a read of the database. `complete`: `changes` contains everything. Returns the
     * changed budgets of which little is left.
     */
    apply(changes: Changes, today: UtcDay, complete: boolean): readonly LowBudget[] {
      seen = visibleIn(changes.snapshot)
      for (const [charge, transaction] of pending) {
        if (transaction !== undefined && seen(transaction)) pending.delete(charge)
      }
      if (complete) tracked.clear()
      const changed = new Set<string>()
      for (const { scopeKey, active, settings } of changes.budgets) {
        tracked.delete(scopeKey)
        if (!active) continue
        tracked.set(scopeKey, { settings, days: new Map(), window: noWindow })
        changed.add(scopeKey)
      }
      if (changed.size === 0 && changes.counters.length === 0) return []
      const extra = unseen()
      for (const scopeKey of changed) {
        const scope = tracked.get(scopeKey)
        if (scope !== undefined) scope.days = new Map(extra.get(scopeKey))
      }
      for (const { scopeKey, day, spent, rejected } of changes.counters) {
        const scope = tracked.get(scopeKey)
        if (scope === undefined) continue
        const tally = { spent, rejected }
        const more = extra.get(scopeKey)?.get(day)
        if (more !== undefined) addTally(tally, more)
        scope.days.set(day, tally)
        changed.add(scopeKey)
      }
      const low: LowBudget[] = []
      for (const scopeKey of changed) {
        const scope = tracked.get(scopeKey)
        if (scope === undefined) continue
        const { window, settings } = scope
        const day = Math.max(today, window.start)
        scope.window = sum(scope.days, windowOf(settings.cadence, day))
        if (isLow(settings, scope.window)) low.push({ scopeKey, settings, window: scope.window })
      }
      return low
    },
  }
}

/** The window of a scope, computed at its first use. */
const noWindow = { start: 0, end: 0, spent: 0n, rejected: 0n }

function sum(days: ReadonlyMap<UtcDay, Tally>, window: Window): Window & Tally {
  const total = { ...window, spent: 0n, rejected: 0n }
  for (const [day, tally] of days) {
    if (day >= window.start && day < window.end) addTally(total, tally)
  }
  return total
}

function changeLedger(ledger: Ledger, charge: Charge, sign: 1n | -1n): void {
  for (const key of charge.scopeKeys) {
    const tally = dayOf(daysOf(ledger, key), charge.day)
    count(tally, charge, sign)
    if (tally.spent === 0n && tally.rejected === 0n) ledger.get(key)?.delete(charge.day)
    if (ledger.get(key)?.size === 0) ledger.delete(key)
  }
}

function daysOf(ledger: Ledger, scopeKey: string): Map<UtcDay, Tally> {
  const known = ledger.get(scopeKey)
  if (known !== undefined) return known
  const days = new Map<UtcDay, Tally>()
  ledger.set(scopeKey, days)
  return days
}

function dayOf(days: Map<UtcDay, Tally>, day: UtcDay): Tally {
  const known = days.get(day)
  if (known !== undefined) return known
  const tally = { spent: 0n, rejected: 0n }
  days.set(day, tally)
  return tally
}

function count(tally: Tally, { rejected, costPicoUsd }: Charge, sign: 1n | -1n): void {
  if (rejected) tally.rejected += sign * costPicoUsd
  else tally.spent += sign * costPicoUsd
}

function addTally(tally: Tally, more: Readonly<Tally>): void {
  tally.spent += more.spent
  tally.rejected += more.rejected
}

/** Parses `xmin:xmax:xip,…`: transactions from xmax on, and the listed ones, had not ended. */
function visibleIn(snapshot: Snapshot): (transaction: bigint) => boolean {
  const [, xmax = '0', running = ''] = snapshot.split(':')
  const end = BigInt(xmax)
  const open = new Set(running === '' ? [] : running.split(',').map(BigInt))
  return (transaction) => transaction < end && !open.has(transaction)
}
