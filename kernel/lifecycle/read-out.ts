import { type Accounting, GatewayError, inTime, type StreamEvent } from '../plugin/index.ts'
import type { Watchdog } from './watchdog.ts'

/** How long an upstream may take to end a finished stream, so that its connection can be reused. */
const TRAILER_MS = 1000

/** Reads the rest of a stream that has said all it has to say; `breakOff` when it does not end. */
export function readOut(upstream: AsyncIterator<unknown>, breakOff: () => void): void {
  let over = false
  const timer = setTimeout(() => {
    over = true
    breakOff()
  }, TRAILER_MS)
  const read = async () => {
    while (!(await upstream.next()).done && !over);
  }
  // Its content has arrived: how it ends is of no matter.
  read()
    .catch(() => {})
    .finally(() => clearTimeout(timer))
}

/** Streams that may be read on at once for callers that have left; each holds a connection. */
const MOST_DRAINS = 1000

let drains = 0

/** Ends the call of a stream of which no more is wanted, also when it is silent. */
export function breakOff(upstream: AsyncIterator<unknown>, watchdog: Watchdog): void {
  watchdog.abort(new GatewayError('upstream_transport', 'the stream is over'))
  // Some iterators throw here, or give no promise.
  Promise.try(() => upstream.return?.()).catch(() => {})
}

/** Breaks a call off when it has been read on for long enough for a caller that has left. */
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

/** How long a provider may take to notice that its call has been broken off. */
const LAST_WORDS_MS = 100

/**
 * What a provider still says of a call that has been broken off, such as what it had counted.
 * `next`: what it had been asked for and has not given.
 */
export async function lastWords(
  next: Promise<IteratorResult<readonly StreamEvent[]>>,
): Promise<readonly StreamEvent[]> {
  const last = (await inTime(next, LAST_WORDS_MS).catch(() => undefined))?.value
  return last === undefined || last.done ? [] : last.value
}
