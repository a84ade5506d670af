import type { Logger } from 'pino'
import { inTime } from '../plugin/in-time.ts'

/** A call that exceeded its deadline. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
  constructor(call: string, deadlineMs: number) {
    super(`${call} did not finish within ${deadlineMs} ms`)
  }
}

export interface Containment<T> {
  /** Names the call in errors and logs: `setup of plugin "provider.x"`. */
  readonly call: string
  readonly deadlineMs: number
  readonly log: Logger
  /** Called with a result that came after the deadline, to clean it up. */
  late?(result: T): void | Promise<void>
}

/**
 * Runs one call of a plugin with a deadline. Throws what the call throws, or DeadlineError. An
 * overdue call goes on; its end is logged and never becomes an unhandled rejection.
 */
export async function contain<T>(
  { call, deadlineMs, log, late }: Containment<T>,
  run: () => T | Promise<T>,
): Promise<T> {
  const work = (async () => run())()
  const done = await inTime(work, deadlineMs)
  if (done !== undefined) return done.value
  work
    .then((result) => {
      log.warn(`${call} finished after its deadline`)
      return late?.(result)
    })
    .catch((err: unknown) => log.error({ err }, `${call} failed after its deadline`))
  throw new DeadlineError(call, deadlineMs)
}

const DISPOSE_DEADLINE_MS = 10_000

/** Disposes something of a plugin. Never rejects: errors are logged. */
export async function containDisposal(
  what: string,
  log: Logger,
  dispose: () => void | undefined | Promise<void>,
): Promise<void> {
  const call = `disposal of ${what}`
  try {
    await contain({ call, deadlineMs: DISPOSE_DEADLINE_MS, log }, dispose)
  } catch (err) {
    log.error({ err }, `${call} failed`)
  }
}
