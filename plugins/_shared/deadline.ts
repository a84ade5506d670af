import { LiveSet } from 'model-gateway/wire'

/** Maximum number of abandoned calls, because each holds a connection. */
const MOST_ABANDONED = 2

/**
 * Runs calls that may never be answered. After the timeout a call is abandoned and its promise
 * rejects; it may still take effect later. With several abandoned calls, further ones are refused.
 */
export interface Deadline {
  run(work: () => Promise<void>, ms: number): Promise<void>
  /** Rejects all pending calls. */
  expire(): void
}

export function createDeadline(): Deadline {
  const waiting = new LiveSet<() => void>()
  let abandoned = 0
  return {
    async run(work, ms) {
      if (abandoned >= MOST_ABANDONED)
        throw new Error('too many earlier calls are still unanswered')
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      let late = false
      const giveUp = () => {
        late = true
        abandoned += 1
        reject(new Error(`no answer within ${ms} ms`))
      }
      const timer = setTimeout(giveUp, ms)
      const place = waiting.add(giveUp)
      work()
        .then(resolve, reject)
        .finally(() => {
          if (late) abandoned -= 1
        })
      try {
        await promise
      } finally {
        clearTimeout(timer)
        waiting.delete(place)
      }
    },
    expire() {
      for (const giveUp of waiting) giveUp()
    },
  }
}
