/** Limits the rate of attempts by key. */
export interface Throttle {
  /**
   * Counts an attempt as failed until `forget` is called, so that concurrent attempts count too.
   * Returns a number if the attempt must wait for so many milliseconds; it is not counted then.
   */
  begin(key: string, now: number): Attempt | number
  /** The subject last passed to `failed` for this key. */
  subjectOf(key: string): string | undefined
  /** Forgets all attempts at the matching keys. */
  forget(fits: (key: string) => boolean): void
}

export interface Attempt {
  /** Forgets this attempt; with `all`, the ones before it as well. */
  forget(what: 'this' | 'all'): void
  /** Records a failure. Returns the milliseconds until the next attempt is allowed. */
  failed(subject?: string): number
}

interface Failures {
  count: number
  lastAt: number
  until: number
  subject?: string | undefined
}

/**
 * After `free` failures in a row each further one doubles the wait, from a second to a minute.
 * Keeps at most the `limit` keys that failed last, each for `forgetMs`.
 */
export function createThrottle(options: {
  readonly free: number
  readonly limit: number
  readonly forgetMs: number
}): Throttle {
  const { free, limit, forgetMs } = options
  const kept = new Map<string, Failures>()

  function settle(failures: Failures): void {
    const over = failures.count - free
    failures.until = over <= 0 ? 0 : failures.lastAt + waitMs(over)
  }

  return {
    begin(key, now) {
      const known = kept.get(key)
      const failures =
        known === undefined || now - known.lastAt > forgetMs
          ? { count: 0, lastAt: now, until: 0 }
          : known
      if (now < failures.lastAt) {
        // The clock has been set back.
        failures.lastAt = now
        settle(failures)
      }
      if (now < failures.until) return failures.until - now
      failures.count++
      failures.lastAt = now
      settle(failures)
      // Move the key to the end of the map, so that the oldest key is first.
      kept.delete(key)
      kept.set(key, failures)
      if (kept.size > limit) kept.delete(kept.keys().next().value ?? '')
      return {
        forget(what) {
          if (what === 'all') failures.count = 0
          else failures.count = Math.max(0, failures.count - 1)
          if (failures.count === 0 && kept.get(key) === failures) kept.delete(key)
          settle(failures)
        },
        failed(subject) {
          failures.subject = subject
          return Math.max(0, failures.until - failures.lastAt)
        },
      }
    },
    subjectOf: (key) => kept.get(key)?.subject,
    forget(fits) {
      for (const key of [...kept.keys()]) if (fits(key)) kept.delete(key)
    },
  }
}

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 60_000

function waitMs(failuresOver: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failuresOver - 1, 20))
}
