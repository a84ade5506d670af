export interface GroupCommit<T, R> {
  /**
   * Resolves with what `write` returned for the batch that held the item, when it is written;
   * rejects with what `write` threw.
   */
  add(item: T): Promise<R>
  /** Resolves when everything that was added is written, or has failed. */
  drained(): Promise<void>
}

interface Batch<T, R> extends PromiseWithResolvers<R> {
  readonly items: T[]
}

/**
 * Writes items in batches, one batch at a time: while one is being written the next one gathers.
 * There is no timer; an item that finds nobody writing is written at the end of the current task.
 */
export function createGroupCommit<T, R>(
  write: (items: readonly T[]) => Promise<R>,
  maxBatch: number,
): GroupCommit<T, R> {
  const waiting: Batch<T, R>[] = []
  let writing: Promise<void> | undefined

  async function writeAll(): Promise<void> {
    // What is added in the same task still joins the first batch.
    await Promise.resolve()
    for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
      try {
        batch.resolve(await write(batch.items))
      } catch (error) {
        batch.reject(error)
      }
    }
    writing = undefined
  }

  return {
    add(item) {
      let batch = waiting.at(-1)
      if (batch === undefined || batch.items.length >= maxBatch) {
        batch = { items: [], ...Promise.withResolvers<R>() }
        waiting.push(batch)
      }
      batch.items.push(item)
      writing ??= writeAll()
      return batch.promise
    },
    async drained() {
      await writing
    },
  }
}
