import type { Logger } from 'pino'
import { isRowFault } from '../_shared/batch-row.ts'
import { createGroupCommit } from '../_shared/group-commit.ts'
import type { Spool } from '../_shared/spool.ts'
import type { Reach } from './reach.ts'
import type { RequestIds } from './request-ids.ts'
import { chargeOf, type LedgerRow } from './row.ts'
import type { Charge, Spend } from './spend.ts'
import type { Store, Written } from './store.ts'

/** Maximum rows per statement, so that the server parses it quickly. */
const MAX_BATCH = 500
const RETRY_MIN_MS = 50
const RETRY_MAX_MS = 1_000

/** A row to write, with its charge for the counters. */
export interface Entry {
  readonly row: LedgerRow
  readonly charge: Charge | undefined
}

export interface JournalOptions {
  readonly store: Pick<Store, 'writeLedger' | 'tryLedger' | 'ping'>
  readonly reach: Reach
  readonly spool: () => Spool
  readonly spend: Spend
  readonly requestIds: RequestIds
  readonly log: Logger
  /** Called after rows of the spool were written to the database. */
  readonly replayed: () => Promise<void>
}

/** Makes rows durable: in the database or, while that is away, in the spool, and later in both. */
export function createJournal(options: JournalOptions) {
  const { store, reach, spool, spend, requestIds, log, replayed } = options
  const commits = createGroupCommit(write, MAX_BATCH)
  let writable = true
  /**
   * A row whose write failed. Until the database accepts a test of it, the database counts as
   * unreachable, even if it answers pings.
   */
  let trial: LedgerRow | undefined
  let recovering: Promise<void> | undefined
  let wake = () => {}
  let closing = false

  async function write(entries: readonly Entry[]): Promise<Written['duplicates']> {
    // Later rows do not wait for a commit that hangs: after its timeout they go to the spool.
    if (!reach.away) {
      try {
        const written = await writeRows(entries.map(({ row }) => row))
        for (const entry of entries) finish(entry, written)
        return written.duplicates
      } catch {
        // The commit may still succeed; then the replay of its rows changes nothing.
      }
    }
    await writeToSpool(entries)
    return none
  }

  async function writeRows(rows: readonly LedgerRow[]): Promise<Written> {
    trial = rows[0]
    const written = await reach.call(() => store.writeLedger(rows))
    trial = undefined
    return written
  }

  async function writeToSpool(entries: readonly Entry[]): Promise<void> {
    try {
      await spool().append(entries.map(({ row }) => JSON.stringify(row)))
    } catch (err) {
      if (writable) log.error({ err }, 'cannot write to the database or to the spool')
      writable = false
      for (const { row, charge } of entries) {
        if (charge !== undefined) spend.drop(charge)
        requestIds.forget(row)
      }
      throw err
    }
    writable = true
    for (const { charge } of entries) if (charge !== undefined) spend.spool(charge)
    if (!closing) void startRecovery()
  }

  function finish({ row, charge }: Entry, { transaction, duplicates }: Written): void {
    requestIds.forget(row)
    if (duplicates.size > 0 && duplicates.has(row.event_id)) {
      if (charge !== undefined) spend.drop(charge)
      log.warn(
        { request_id: row.request_id, ownership_scope_key: row.ownership_scope_key },
        'the ledger already has this request: the charge was recorded as rejected',
      )
    } else if (charge !== undefined) spend.committed(charge, transaction)
  }

  async function replayRecords(records: readonly string[]): Promise<void> {
    const rows = records.map((record) => JSON.parse(record) as LedgerRow)
    try {
      await replayRows(rows)
    } catch (error) {
      if (!isRowFault(error)) throw error
      for (const row of rows) await replayAlone(row)
    }
  }

  async function replayRows(rows: readonly LedgerRow[]): Promise<void> {
    const written = await writeRows(rows)
    for (const row of rows) finish(unspooled(row), written)
  }

  /**
   * Replays one row. A row that the database rejects is dropped, because it would block all others
   * forever.
   */
  async function replayAlone(row: LedgerRow): Promise<void> {
    try {
      await replayRows([row])
    } catch (err) {
      if (!isRowFault(err)) throw err
      log.error(
        { err, row },
        'the database rejects this row: this log line is the only record of it',
      )
      const { charge } = unspooled(row)
      if (charge !== undefined) spend.drop(charge)
      requestIds.forget(row)
    }
  }

  function unspooled(row: LedgerRow): Entry {
    const charge = chargeOf(row)
    if (charge !== undefined) spend.unspool(charge)
    return { row, charge }
  }

  async function tryWriting(): Promise<void> {
    try {
      if (trial !== undefined) await store.tryLedger(trial)
    } catch (err) {
      if (!isRowFault(err)) throw err
    }
    trial = undefined
  }

  /** Tries until the database is back and the spool is empty. */
  async function recover(): Promise<void> {
    for (let pause = RETRY_MIN_MS; ; pause = Math.min(2 * pause, RETRY_MAX_MS)) {
      try {
        await reach.call(store.ping)
        await reach.probe(tryWriting)
        const depth = spool().depth
        if (depth > 0) {
          await spool().replay(replayRecords)
          await replayed()
          log.info({ rows: depth }, 'wrote the rows of the spool to the database')
        }
        if (!reach.away && spool().depth === 0) return
      } catch (err) {
        if (!reach.away) log.error({ err }, 'failed to replay the spool')
        if (!writable) await testSpool()
      }
      if (closing) return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pause)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      if (closing) return
    }
  }

  async function testSpool(): Promise<void> {
    try {
      await spool().probe()
      writable = true
      log.info('the spool is writable again')
    } catch {
      // Already logged; calls stay refused.
    }
  }

  function startRecovery(): Promise<void> {
    recovering ??= recover().finally(() => {
      recovering = undefined
    })
    return recovering
  }

  return {
    /** Resolves to the event ids of its batch whose request already has another row. */
    write: (entry: Entry): Promise<Written['duplicates']> => commits.add(entry),
    startRecovery,
    /** Takes over the spool files of dead processes, and writes their rows. */
    async takeOver(): Promise<void> {
      await spool().adopt()
      if (spool().depth > 0 && !closing) void startRecovery()
    },
    /** A row that another process left in the spool. */
    adopt(record: string): void {
      const row = JSON.parse(record) as LedgerRow
      const charge = chargeOf(row)
      if (charge !== undefined) spend.adopt(charge)
      requestIds.hold(row)
    },
    /** Whether rows can be made durable at all. */
    writable: (): boolean => !reach.away || writable,
    /** Waits for pending writes, then releases the spool for the next process. */
    async close(): Promise<void> {
      closing = true
      await commits.drained()
      wake()
      await recovering
      await spool().close()
    },
  }
}

const none: ReadonlySet<string> = new Set()
