import type { Logger } from 'pino'
import type { BatchRow } from './batch-row.ts'
import { describe } from './tally.ts'
import type { HeldFile, WriteAhead } from './write-ahead.ts'

/** A row is on the local disk after twice as long, at the latest: that is less than a second. */
const EVERY_MS = 400

/** Keeps rows that wait for long on the local disk as well, so that they outlive the process. */
export interface Overdue<R extends BatchRow> {
  /** One more row waits, behind all others. */
  waits(): void
  /** These wait no longer. */
  release(rows: readonly R[]): void
  /** Resolves when all that were released are off the disk. */
  close(): Promise<void>
}

export function createOverdue<R extends BatchRow>(options: {
  readonly ahead: WriteAhead
  /** All rows that wait, the oldest first. */
  waiting(): readonly R[]
  toRecord(row: R): string
  /** What the rows make up, as the log calls it. */
  readonly name: string
  readonly log: Logger
}): Overdue<R> {
  const { ahead, waiting, toRecord, name, log } = options
  /** By `json`, which copies of a row share. */
  const kept = new Map<string, Promise<HeldFile | undefined>>()
  /** Rows that have begun to wait since the last look. */
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
    // One shows whether the disk takes any.
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
