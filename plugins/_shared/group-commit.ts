export interface GroupCommit<T, R> {
  /** Resolves with the result of `write` for the item's batch; rejects with its error. */
  add(item: T): Promise<R>
  /** Resolves when all added items are written, or have failed. */
  drained(): Promise<void>
}

interface Batch<T, R> extends PromiseWithResolvers<R> {
  readonly items: T[]
}

/**
 * Writes items in batches, one at a time: the next batch collects during a write. No timer is used:
 * without a write in progress, an item is written at the end of the current task.
 */
export function createGroupCommit<T, R>(
  write: (items: readonly T[]) => Promise<R>,
  maxBatch: number,
): GroupCommit<T, R> {
  const waiting: Batch<T, R>[] = []
  let writing: Promise<void> | undefined

  async function writeAll(): Promise<void> {
    // Items of the same task still join the first batch.
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
