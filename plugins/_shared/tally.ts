import type { Logger } from 'pino'
import { redactText } from './secret-text.ts'

/** Counts events that are too frequent to log each time. */
export interface Tally {
  add(count: number, reason: string, err?: unknown): void
  /** Logs events that are not logged yet. */
  report(): void
  /** Total count. */
  readonly total: number
}

const REPORT_MS = 10_000

/** Logs at most once in ten seconds, as `{[name]: count, reason}`. */
export function createTally(options: {
  readonly log: Logger
  readonly name: string
  readonly message: string
  /** Called for each count. */
  readonly counter?: { add(count: number): void }
}): Tally {
  const { log, name, message, counter } = options
  let total = 0
  let unreported = 0
  let last: { readonly reason: string; readonly err?: unknown } = { reason: '' }
  let reportedAt = Number.NEGATIVE_INFINITY
  const report = (): void => {
    if (unreported === 0) return
    reportedAt = performance.now()
    log.error({ [name]: unreported, reason: last.reason, ...describe(last.err) }, message)
    unreported = 0
  }
  return {
    add(count, reason, err) {
      total += count
      counter?.add(count)
      unreported += count
      last = { reason, err }
      if (performance.now() - reportedAt >= REPORT_MS) report()
    },
    report,
    get total() {
      return total
    },
  }
}

/** An error for the log. Its other fields may contain values that the database refused. */
export function describe(err: unknown): { code?: unknown; error?: string } {
  if (!(err instanceof Error)) return {}
  return { code: (err as { code?: unknown }).code, error: redactText(err.message) }
}
