export const cadences = ['daily', 'weekly', 'monthly'] as const
export type Cadence = (typeof cadences)[number]

/** Days since 1970-01-01, in UTC. */
export type UtcDay = number

const DAY_MS = 86_400_000
const MONDAY = 4
const WEEK = 7

export function utcDay(instant: Date): UtcDay {
  return Math.floor(instant.getTime() / DAY_MS)
}

export function startOfDay(day: UtcDay): Date {
  return new Date(day * DAY_MS)
}

/** `2026-01-31` */
export function dayText(day: UtcDay): string {
  return startOfDay(day).toISOString().slice(0, 10)
}

/** The start of a day without fractions of a second: `2026-01-31T00:00:00Z`. */
export function startText(day: UtcDay): string {
  return `${dayText(day)}T00:00:00Z`
}

/** The days from `start` to before `end` that a budget sums. */
export interface Window {
  readonly start: UtcDay
  readonly end: UtcDay
}

/** The window of a day: the day, its week from Monday, or its month. */
export function windowOf(cadence: Cadence, day: UtcDay): Window {
  if (cadence === 'daily') return { start: day, end: day + 1 }
  if (cadence === 'weekly') {
    const start = day - ((((day - MONDAY) % WEEK) + WEEK) % WEEK)
    return { start, end: start + WEEK }
  }
  const date = startOfDay(day)
  const month = (offset: number) =>
    Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset, 1) / DAY_MS
  return { start: month(0), end: month(1) }
}

/** The longest window. */
export const LONGEST_WINDOW_DAYS = 31
