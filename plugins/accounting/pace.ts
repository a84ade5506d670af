import { type BudgetSettings, remaining, type Used, used } from './budget.ts'
import { startOfDay, utcDay, type Window } from './window.ts'

/**
 * Days, including today, that determine the pace. A whole week, because weekdays and weekends
 * differ.
 */
export const RECENT_DAYS = 7

/** Minimum elapsed time, because the first calls of a window do not predict the next ones. */
const HOUR_MS = 3_600_000

/** A window with its spend, and that of its last `RECENT_DAYS`, in pico-USD. */
export interface WindowUse extends Window, Used {
  readonly recent: Used
}

/**
 * The hour at which the budget is used up at the pace of the recent days. Undefined if nothing was
 * spent in them, if nothing remains, or if the budget lasts until the window ends.
 */
export function exhaustedBy(settings: BudgetSettings, use: WindowUse, now: Date): Date | undefined {
  const left = remaining(settings, use)
  const recent = used(settings, use.recent)
  if (left <= 0n || recent <= 0n) return undefined
  const first = Math.max(use.start, utcDay(now) + 1 - RECENT_DAYS)
  const elapsed = Math.max(HOUR_MS, now.getTime() - startOfDay(first).getTime())
  const at = now.getTime() + Number((left * BigInt(elapsed)) / recent)
  // Rounded to the hour, so that repeated reads return the same value.
  const by = Math.ceil(at / HOUR_MS) * HOUR_MS
  return by < startOfDay(use.end).getTime() ? new Date(by) : undefined
}
