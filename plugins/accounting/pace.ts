import { type BudgetSettings, remaining, type Used, used } from './budget.ts'
import { startOfDay, utcDay, type Window } from './window.ts'

/** So many days, today among them, say how fast a budget goes; no week looks like its weekend. */
export const RECENT_DAYS = 7

/** The first calls of a window say nothing about the next ones. */
const HOUR_MS = 3_600_000

/** A window with what was spent in it, and in its last `RECENT_DAYS`, in pico-USD. */
export interface WindowUse extends Window, Used {
  readonly recent: Used
}

/**
 * The hour by which nothing is left if it goes on as in the last days, today as far as it has gone.
 * Absent when nothing was spent in them, when nothing is left already, and when it lasts until the
 * window ends.
 */
export function exhaustedBy(settings: BudgetSettings, use: WindowUse, now: Date): Date | undefined {
  const left = remaining(settings, use)
  const recent = used(settings, use.recent)
  if (left <= 0n || recent <= 0n) return undefined
  const first = Math.max(use.start, utcDay(now) + 1 - RECENT_DAYS)
  const elapsed = Math.max(HOUR_MS, now.getTime() - startOfDay(first).getTime())
  const at = now.getTime() + Number((left * BigInt(elapsed)) / recent)
  // An estimate; to the millisecond it would be another one with each look.
  const by = Math.ceil(at / HOUR_MS) * HOUR_MS
  return by < startOfDay(use.end).getTime() ? new Date(by) : undefined
}
