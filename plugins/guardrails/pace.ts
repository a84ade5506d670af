/** Milliseconds of verdicts, over all requests, after which the event loop gets a turn. */
const SLICE_MS = 10

/** Module state, because all policies share the event loop. */
let spentMs = 0
let last: Promise<void> = Promise.resolve()

/**
 * When the next verdict may start: at once (`undefined`), or after a turn of the event loop if
 * recent verdicts took long. Waiting verdicts each get a separate turn.
 */
export function turnOf(): Promise<void> | undefined {
  if (spentMs < SLICE_MS) return undefined
  last = last.then(turn)
  return last
}

/** Counts a verdict that held the event loop. */
export function countVerdict(ms: number): void {
  spentMs += ms
}

/** Two turns, because a request is read in one and answered in another. */
async function turn(): Promise<void> {
  for (let time = 0; time < 2; time++) await new Promise((resolve) => setImmediate(resolve))
  spentMs = 0
}
