import { GatewayError } from '../plugin/index.ts'

/** Aborts a provider call that is silent for too long or does not end in time. */
export interface Watchdog {
  readonly signal: AbortSignal
  /** The upstream sent something; from now on the idle limit applies. */
  alive(): void
  /** It has sent what was requested; silence does not count until the next `guard`. */
  rest(): void
  abort(reason: GatewayError): void
  /**
   * The outcome of `work`, or a rejection with the abort reason, whichever is first, so that a
   * provider that ignores its signal does not block. One at a time.
   */
  guard<T>(work: Promise<T>): Promise<T>
  stop(): void
}

/** Calls faster than this need no closer tracking. */
const SLOW_MS = 250

/**
 * One timer per call. It checks the time of the last sign of life and sleeps for the rest, so that
 * a sign of life only reads the clock. It sleeps at most for the idle limit, which may start to
 * apply at any time. `whole`: the total limit applies to the whole reply, not only to its first
 * byte. `slow` is called if a call takes longer than most.
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
        // No effect on a settled promise.
        interrupt = reject
        work.then(resolve, reject)
      })
    },
    stop() {
      clearTimeout(timer)
    },
  }
}
