/**
 * Has `load` read what was there when it was asked for, or later: one that is under way may have read
 * too early, so the next one is waited for, by all who ask meanwhile. No two run at once.
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
