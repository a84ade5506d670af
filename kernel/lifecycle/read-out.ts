import { type Accounting, GatewayError, inTime, type StreamEvent } from '../plugin/index.ts'
import type { Watchdog } from './watchdog.ts'

/** How long to wait for the end of a finished stream, so that its connection can be reused. */
const TRAILER_MS = 1000

/** Reads the rest of a finished stream; calls `breakOff` if it does not end. */
export function readOut(upstream: AsyncIterator<unknown>, breakOff: () => void): void {
  let over = false
  const timer = setTimeout(() => {
    over = true
    breakOff()
  }, TRAILER_MS)
  const read = async () => {
    while (!(await upstream.next()).done && !over);
  }
  // All content has arrived, so errors at the end do not matter.
  read()
    .catch(() => {})
    .finally(() => clearTimeout(timer))
}

/** Limit of streams that are read on for callers that left; each holds a connection. */
const MOST_DRAINS = 1000

let drains = 0

/** Aborts a stream that is no longer needed, even if it is silent. */
export function breakOff(upstream: AsyncIterator<unknown>, watchdog: Watchdog): void {
  watchdog.abort(new GatewayError('upstream_transport', 'the stream is over'))
  // Some iterators throw here or return no promise.
  Promise.try(() => upstream.return?.()).catch(() => {})
}

/** Aborts a call that has been read on long enough for a caller that left. */
export function startDrain(watchdog: Watchdog, accounting: Accounting): { stop(): void } {
  const end = () => watchdog.abort(new GatewayError('upstream_timeout', 'the caller has left'))
  const timer = setTimeout(end, drains < MOST_DRAINS ? accounting.abortDrainMs() : 0)
  drains++
  return {
    stop() {
      drains--
      clearTimeout(timer)
    },
  }
}

/** How long a provider may take to react to the abort. */
const LAST_WORDS_MS = 100

/**
 * Returns what a provider still sends for an aborted call, such as its counters. `next`: the
 * pending read.
 */
export async function lastWords(
  next: Promise<IteratorResult<readonly StreamEvent[]>>,
): Promise<readonly StreamEvent[]> {
  const last = (await inTime(next, LAST_WORDS_MS).catch(() => undefined))?.value
  return last === undefined || last.done ? [] : last.value
}
