import type { Writable } from 'node:stream'

/** A COPY into one table. */
export interface Copy {
  /** Resolves when the stream accepts more rows. */
  write(lines: string): Promise<void>
  /** Resolves when all rows are in the table; rejects when they are refused. */
  end(): Promise<void>
  /** Aborts; the database must roll back. */
  cancel(): void
}

/**
 * The stream of a `copy … from stdin`, whose errors become rejections. `next` runs any statement in
 * the same transaction, because the driver reports rows that are rejected at the end only through
 * the failure of that statement.
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
      // The stream tells the database in the next turn of the event loop.
      await Bun.sleep(1)
      await next()
      // Until then the driver still sends data to the database.
      await closed.promise
      if (fault !== undefined) throw fault
    },
    cancel() {
      if (!stream.writableEnded) stream.destroy(new Error('cancelled'))
    },
  }
}
