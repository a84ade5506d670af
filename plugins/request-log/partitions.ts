export const DAY_MS = 86_400_000
/** Number of days ahead with partitions. */
const AHEAD = 7

/**
 * Tables with daily partitions. Summaries come first, because the other rows are found through
 * them.
 */
export const tables = [
  'request_logs',
  'request_log_payloads',
  'request_log_tags',
  'request_log_attempts',
]

/** A UTC day, in days since the epoch. */
export type Day = number

export function dayOf(ms: number): Day {
  return Math.floor(ms / DAY_MS)
}

/** `2026-11-21` */
export function isoDay(day: Day): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}

/** The days that need partitions at a time: from yesterday to a week ahead. */
export function neededDays(now: Date): readonly Day[] {
  const today = dayOf(now.getTime())
  return Array.from({ length: AHEAD + 2 }, (_, i) => today - 1 + i)
}
