/** How long an upstream may take to end a finished stream, so that its connection can be reused. */
const TRAILER_MS = 1000

/** Reads the rest of a stream that has said all it has to say; `breakOff` when it does not end. */
export function readOut(upstream: AsyncIterator<unknown>, breakOff: () => void): void {
  const timer = setTimeout(breakOff, TRAILER_MS)
  const read = async () => {
    while (!(await upstream.next()).done);
  }
  // Its content has arrived: how it ends is of no matter.
  read()
    .catch(() => {})
    .finally(() => clearTimeout(timer))
}
