import { GatewayError } from '../plugin/index.ts'

/** Aborts a provider call that stays silent for too long, or does not end in time. */
export interface Watchdog {
  readonly signal: AbortSignal
  /** The upstream has sent something: from now on the idle limit counts. */
  alive(): void
  /** It has sent what was asked of it: until the next `guard` its silence is not its own. */
  rest(): void
  abort(reason: GatewayError): void
  /**
   * The outcome of `work`, or a rejection with the abort's reason, whichever comes first, so that a
   * provider that ignores its signal holds nobody up. One at a time.
   */
  guard<T>(work: Promise<T>): Promise<T>
  stop(): void
}

/** What needs no more time is not worth looking after more closely. */
const SLOW_MS = 250

/**
 * One timer a call: it looks how long ago the last sign of life was and sleeps for the rest, so
 * that a sign of life costs no more than reading the clock. It never sleeps for longer than the idle
 * limit, which may come to count at any moment. `whole`: the total limit is for the whole reply, not
 * for its first byte alone. `slow` is told of a
 * call that takes longer than most.
 */
export function createWatchdog(
  timeouts: { totalMs: number; idleMs: number },
  whole = false,
  slow?: () => void,
): Watchdog {
  const controller = new AbortController()
  let answered = false
  let awaited = true
  let aborted = false
  let lastSign = performance.now()
  const endsAt = whole ? lastSign + timeouts.totalMs : Number.POSITIVE_INFINITY
  let timer = setTimeout(look, Math.min(timeouts.totalMs, timeouts.idleMs, SLOW_MS))
  let interrupt: ((reason: unknown) => void) | undefined

  function look() {
    slow?.()
    slow = undefined
    const now = performance.now()
    const limit = answered ? timeouts.idleMs : timeouts.totalMs
    const silence = awaited ? limit - (now - lastSign) : limit
    const left = Math.min(silence, endsAt - now)
    if (left > 1) {
      timer = setTimeout(look, Math.min(left, timeouts.idleMs))
      return
    }
    const fault = !answered
      ? `did not answer within ${timeouts.totalMs} ms`
      : silence > 1
        ? `did not finish its reply within ${timeouts.totalMs} ms (timeouts.total_ms)`
        : `sent nothing for ${timeouts.idleMs} ms`
    abort(new GatewayError('upstream_timeout', `the provider ${fault}`))
  }

  function abort(reason: GatewayError) {
    if (aborted) return
    aborted = true
    controller.abort(reason)
    interrupt?.(reason)
  }

  return {
    signal: controller.signal,
    alive() {
      lastSign = performance.now()
      answered = true
    },
    rest() {
      answered = true
      awaited = false
    },
    abort,
    guard<T>(work: Promise<T>): Promise<T> {
      awaited = true
      lastSign = performance.now()
      return new Promise<T>((resolve, reject) => {
        if (aborted) reject(controller.signal.reason)
        // Of a promise that is settled already it does nothing.
        interrupt = reject
        work.then(resolve, reject)
      })
    },
    stop() {
      clearTimeout(timer)
    },
  }
}
