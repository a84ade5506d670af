import { LiveSet } from 'model-gateway/wire'

/** So many calls may be left behind unanswered; each holds a connection. */
const MOST_ABANDONED = 2

/**
 * Runs calls that may never be answered. One that takes too long is left behind and its promise
 * rejects; it may still have its effect later. With several left behind, no further one is made.
 */
export interface Deadline {
  run(work: () => Promise<void>, ms: number): Promise<void>
  /** Gives up everything that is being waited for. */
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
