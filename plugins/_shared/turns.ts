/** Limits concurrent work; further work waits for its turn. */
export interface Turns {
  run<T>(work: () => Promise<T>): Promise<T>
}

export function createTurns(atOnce: number): Turns {
  let running = 0
  const waiting: (() => void)[] = []
  return {
    async run(work) {
      if (running < atOnce) running += 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next === undefined) running -= 1
        else next()
      }
    },
  }
}
