import type { Writable } from 'node:stream'

/** Rows on their way into one table. */
export interface Copy {
  /** Resolves when more can be taken. */
  write(lines: string): Promise<void>
  /** Resolves when all rows are in the table; rejects when they are refused. */
  end(): Promise<void>
  /** Gives up: the database has to roll back. */
  cancel(): void
}

/**
 * The stream of a `copy … from stdin`, with its faults as rejections. `next` runs any statement in
 * the same transaction: the driver tells of rows that are refused at the end only by its failing.
 */
export function createCopy(stream: Writable, next: () => Promise<unknown>): Copy {
  const closed = Promise.withResolvers<void>()
  stream.on('close', () => closed.resolve())
  let fault: Error | undefined
  let wake = () => {}
  const over = (error?: Error) => {
    fault ??= error ?? new Error('the database closed the COPY stream')
    wake()
  }
  stream.on('error', over)
  stream.on('drain', () => wake())

  async function drained(): Promise<void> {
    await new Promise<void>((resolve) => {
      wake = resolve
      if (fault !== undefined || !stream.writableNeedDrain) resolve()
    })
    if (fault !== undefined) throw fault
  }

  return {
    async write(lines) {
      if (fault !== undefined) throw fault
      if (lines !== '' && !stream.write(lines)) await drained()
    },
    async end() {
      stream.end()
      while (fault === undefined && stream.writableLength > 0) await Bun.sleep(1)
      // The stream says so to the database in its next turn.
      await Bun.sleep(1)
      await next()
      // Until then the driver has something to say to the database.
      await closed.promise
      if (fault !== undefined) throw fault
    },
    cancel() {
      if (!stream.writableEnded) stream.destroy(new Error('cancelled'))
    },
  }
}
