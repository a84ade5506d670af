/** Milliseconds of verdicts, those of all requests together, after which the event loop turns once. */
const SLICE_MS = 10

/** There is one event loop, so that all policies share this. */
let spentMs = 0
let last: Promise<void> = Promise.resolve()

/**
 * When the next verdict may begin: at once (`undefined`), or when the event loop has turned because the verdicts
 * since then took long. Of several that wait, each gets a turn for itself.
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

/** Twice: a request that waits is read in one turn and answered in another. */
async function turn(): Promise<void> {
  for (let time = 0; time < 2; time++) await new Promise((resolve) => setImmediate(resolve))
  spentMs = 0
}
