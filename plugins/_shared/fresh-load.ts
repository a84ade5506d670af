/**
 * Ensures that `load` reads the state at or after the request: a load in progress may have started
 * too early, so all requests meanwhile share the next one. Loads never overlap.
 */
export function createFreshLoad(load: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let following: Promise<void> | undefined

  function start(): Promise<void> {
    following = undefined
    running = load().finally(() => {
      running = undefined
    })
    return running
  }

  return () => {
    if (running === undefined) return start()
    following ??= running.then(start, start)
    return following
  }
}
