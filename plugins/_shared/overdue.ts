import type { Logger } from 'pino'
import type { BatchRow } from './batch-row.ts'
import { describe } from './tally.ts'
import type { HeldFile, WriteAhead } from './write-ahead.ts'

/** A row is on the local disk after at most twice this time, which is less than a second. */
const EVERY_MS = 400

/** Also stores rows that wait for long on the local disk, so that they survive the process. */
export interface Overdue<R extends BatchRow> {
  /** Adds a waiting row. */
  waits(): void
  /** Releases rows that no longer wait. */
  release(rows: readonly R[]): void
  /** Resolves when all released rows are removed from the disk. */
  close(): Promise<void>
}

export function createOverdue<R extends BatchRow>(options: {
  readonly ahead: WriteAhead
  /** All waiting rows, oldest first. */
  waiting(): readonly R[]
  toRecord(row: R): string
  /** Name of the rows in the log. */
  readonly name: string
  readonly log: Logger
}): Overdue<R> {
  const { ahead, waiting, toRecord, name, log } = options
  /** By `json`, which copies of a row share. */
  const kept = new Map<string, Promise<HeldFile | undefined>>()
  /** Rows that started to wait since the last check. */
  let recent = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let fails = false

  async function write(row: R): Promise<HeldFile | undefined> {
    try {
      const file = await ahead.add(toRecord(row))
      fails = false
      return file
    } catch (err) {
      if (!fails) log.warn(describe(err), `${name} waits only in memory`)
      fails = true
      kept.delete(row.json)
      return undefined
    }
  }

  function look(): void {
    timer = undefined
    const rows = waiting()
    const old = rows.slice(0, Math.max(0, rows.length - recent))
    recent = 0
    // The first row shows whether the disk accepts any.
    for (const row of fails ? old.slice(0, 1) : old) {
      if (!kept.has(row.json)) kept.set(row.json, write(row))
    }
    if (rows.length > 0) watch()
  }

  function watch(): void {
    timer = setTimeout(look, EVERY_MS)
    timer.unref()
  }

  return {
    waits() {
      recent += 1
      if (timer === undefined) watch()
    },
    release(rows) {
      if (kept.size === 0) return
      for (const { json } of rows) {
        void kept.get(json)?.then((file) => file && ahead.release(file))
        kept.delete(json)
      }
    },
    async close() {
      clearTimeout(timer)
      await ahead.close()
    },
  }
}
