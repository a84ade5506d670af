const HOUR_MS = 3_600_000

interface Counts {
  readonly requests: number
  readonly errors: number
}

/** Requests from `start` (milliseconds since the epoch) to the start of the next piece. */
export interface Piece extends Counts {
  readonly start: number
}

/**
 * Requests from `since` to `end`, newest piece first: whole hours from the roll-up, and the partial
 * hours at both ends counted by `count`.
 */
export async function piecesOf(
  hours: readonly Piece[],
  since: number,
  end: number,
  count: (from: number, to: number) => Promise<Counts>,
): Promise<Piece[]> {
  const pieces: Piece[] = []
  for (const hour of hours) {
    const from = Math.max(since, hour.start)
    const to = Math.min(end, hour.start + HOUR_MS)
    const whole = to - from === HOUR_MS
    pieces.push(whole ? hour : { start: from, ...(await count(from, to)) })
  }
  return pieces
}
