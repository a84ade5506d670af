import { type Disposer, inTime } from 'model-gateway/plugin'
import type { Logger } from 'pino'
import { type Limits, usualLimits } from './batch-limits.ts'
import { writeInPieces } from './batch-pieces.ts'
import { type BatchRow, isRowFault } from './batch-row.ts'
import { createDeadline } from './deadline.ts'
import { createOverdue } from './overdue.ts'
import type { Room } from './room.ts'
import type { Spool } from './spool.ts'
import { describe, type Tally } from './tally.ts'
import type { WriteAhead } from './write-ahead.ts'

export interface BatchWriter<R extends BatchRow> {
  /** Never waits and never throws. */
  push(row: R): void
  /** Rows that wait in memory. */
  waiting(): number
  /** The database is unreachable: rows go to the spool, payloads are dropped. */
  away(): boolean
  /** Writes the waiting rows, with a timeout. */
  close: Disposer
}

export interface BatchWriterOptions<R extends BatchRow> {
  /** Name of the rows in the log: `the request log`. */
  readonly name: string
  /** Called concurrently for parts of a large batch. Rows may be written again. */
  write(rows: readonly R[]): Promise<void>
  /** A row as stored in the spool, without payloads. */
  toRecord(row: R): string
  fromRecord(record: string): R
  /** Called with rows that are in the database or the spool, or that the database rejects. */
  readonly settled?: (rows: readonly R[]) => void
  /** Called with lost rows. */
  readonly dropped?: (rows: readonly R[]) => void
  /** Its records, adopted ones too, are written first. */
  readonly spool: Spool
  /**
   * Files of this spool that also keep rows that wait for long. Absent if rows may be lost when the
   * process is killed, or are already safe.
   */
  readonly ahead?: WriteAhead
  /** Absent if the rows have no payloads. */
  readonly payloads?: {
    /** Memory limit for payloads. */
    readonly room: Room
    /** Counts dropped payloads. */
    readonly shed: Tally
  }
  readonly lost: Tally
  readonly log: Logger
  readonly limits?: Limits
}

/**
 * Collects rows and writes them in batches, one after another. When the database is unreachable,
 * they go to the spool without payloads, and from there to the database when it is back.
 */
export function createBatchWriter<R extends BatchRow>(
  options: BatchWriterOptions<R>,
): BatchWriter<R> {
  const { name, write, toRecord, fromRecord, spool, lost, log, limits = usualLimits } = options
  const { settled = () => {}, dropped = () => {} } = options
  const { room, shed } = options.payloads ?? {}
  let queue: R[] = []
  /** Taken from the queue, but not known to be safe yet. */
  let writing: readonly R[] = []
  let rowChars = 0
  let payloadChars = 0
  let running: Promise<void> | undefined
  let state: 'open' | 'closing' | 'closed' = 'open'
  let gathering = false
  let away = false
  let spoolFails = false
  const deadline = createDeadline()
  const overdue =
    options.ahead &&
    createOverdue({
      ahead: options.ahead,
      waiting: () => [...writing, ...queue],
      toRecord,
      name,
      log,
    })

  let wake = (): void => {}
  /** Ends early when `wake` is called. */
  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const isFull = () =>
    queue.length >= limits.batchRows || rowChars + payloadChars >= limits.batchChars

  function lose(rows: readonly R[], why: string, err?: unknown): void {
    lost.add(rows.length, why, err)
    dropped(rows)
  }

  /** Takes rows from the front of the queue. */
  function take(most: number, chars: number): readonly R[] {
    let count = 0
    let size = 0
    for (const { json, payload = '' } of queue) {
      size += json.length + payload.length
      if (count > 0 && (count === most || size > chars)) break
      count += 1
      rowChars -= json.length
      payloadChars -= payload.length
      room?.give(payload.length)
    }
    const taken = queue.slice(0, count)
    queue = queue.slice(count)
    return taken
  }

  /** Resolves when the database has the rows, except rejected ones. */
  async function deliver(rows: readonly R[]): Promise<void> {
    const [row] = rows
    if (row === undefined) return
    try {
      await deadline.run(() => writeInPieces(rows, write), limits.writeMs)
      settled(rows)
    } catch (err) {
      if (!isRowFault(err)) throw err
      if (rows.length > 1) {
        // Bisects the batch to find the rejected row.
        const middle = rows.length >> 1
        await deliver(rows.slice(0, middle))
        await deliver(rows.slice(middle))
      } else if (row.payload !== undefined) {
        shed?.add(1, 'the database rejected a payload', err)
        await deliver([{ ...row, payload: undefined }])
      } else {
        lost.add(1, 'the database rejected a row', err)
        settled(rows)
      }
    }
  }

  /** Stores the rows in the spool; if that fails, they wait, or are lost at shutdown. */
  async function putAside(rows: readonly R[]): Promise<void> {
    if (rows.length === 0) return
    const payloads = rows.filter(({ payload }) => payload !== undefined).length
    if (payloads > 0) shed?.add(payloads, 'the database is away')
    try {
      await spool.append(rows.map(toRecord))
      spoolFails = false
      overdue?.release(rows)
      settled(rows)
    } catch (err) {
      if (state !== 'open') return lose(rows, 'the spool cannot be written', err)
      if (!spoolFails) log.error(describe(err), `the spool of ${name} cannot be written`)
      spoolFails = true
      for (const { json } of rows) rowChars += json.length
      queue = [...rows.map((row) => ({ ...row, payload: undefined })), ...queue]
    }
  }

  async function writeBatch(): Promise<void> {
    if (!isFull() && state === 'open') {
      gathering = true
      await sleep(limits.gatherMs)
      gathering = false
    }
    writing = take(limits.batchRows, limits.mostChars)
    const since = performance.now()
    for (let failures = 0; writing.length > 0; failures += 1) {
      try {
        await deliver(writing)
        overdue?.release(writing)
        if (failures > 0) log.info({ failures }, `${name} is written to the database again`)
        writing = []
      } catch (err) {
        // Shutdown has already moved them to the spool.
        if (state === 'closed') return
        if (failures === 0) log.warn(describe(err), `${name} cannot be written`)
        if (state === 'open' && performance.now() - since < limits.awayMs) {
          await sleep(Math.min(limits.retryMinMs * 2 ** failures, limits.retryMaxMs))
          continue
        }
        away = true
        log.warn(`${name} goes to the spool${room === undefined ? '' : ', without payloads'}`)
        const rows = writing
        writing = []
        await putAside(rows)
      }
    }
  }

  /** Rejects if the database fails. The row stays queued, because writing it twice is safe. */
  async function tryRow(rows: readonly R[]): Promise<void> {
    if (rows.length === 0) return
    await deadline
      .run(() => write(rows), limits.writeMs)
      .catch((err: unknown) => {
        if (!isRowFault(err)) throw err
      })
  }

  async function replay(): Promise<void> {
    const records = spool.depth
    // If the spool is not writable it is empty; then a waiting row tests the database.
    if (records === 0) return await tryRow(queue.slice(0, 1))
    await spool.replay((group) => deliver(group.map(fromRecord)))
    log.info({ records }, `the spool of ${name} was written to the database`)
  }

  /** Sends rows to the spool until the database accepts the spooled ones. */
  async function sitOut(): Promise<void> {
    let pause = limits.retryMinMs
    let nextTry = performance.now() + pause
    let trying: Promise<void> | undefined
    while (away && state === 'open') {
      await putAside(take(queue.length, Number.POSITIVE_INFINITY))
      if (trying === undefined && performance.now() >= nextTry) {
        trying = replay()
          .then(
            () => {
              away = false
            },
            () => {
              pause = Math.min(pause * 2, limits.retryMaxMs)
              nextTry = performance.now() + pause
            },
          )
          .finally(() => {
            trying = undefined
            wake()
          })
      }
      await sleep(limits.gatherMs)
    }
  }

  async function run(): Promise<void> {
    while (queue.length > 0 || (spool.depth > 0 && state === 'open')) {
      if (state === 'closed') break
      if (away && state === 'open') await sitOut()
      else if (spool.depth > 0 && state === 'open') {
        await replay().catch((err: unknown) => {
          away = true
          log.warn(describe(err), `the spool of ${name} cannot be written yet`)
        })
      } else if (away) await putAside(take(queue.length, Number.POSITIVE_INFINITY))
      else await writeBatch()
    }
    running = undefined
  }

  if (spool.depth > 0) running = run()

  return {
    push(row) {
      if (state === 'closed') return lose([row], 'the log is closed')
      let { payload } = row
      if (payload !== undefined && (away || room?.take(payload.length) !== true)) {
        shed?.add(1, away ? 'the database is away' : 'the queue is full')
        payload = undefined
      }
      if (rowChars + row.json.length > limits.queueChars) {
        if (payload !== undefined) {
          room?.give(payload.length)
          shed?.add(1, 'the queue is full')
        }
        const full = (err: unknown) => lose([row], 'the queue is full', err)
        void spool.append([toRecord(row)]).then(() => settled([row]), full)
        return
      }
      queue.push(payload === row.payload ? row : { ...row, payload })
      rowChars += row.json.length
      payloadChars += payload?.length ?? 0
      overdue?.waits()
      if (running === undefined) running = run()
      else if (gathering && isFull()) wake()
    },
    waiting: () => queue.length + writing.length,
    away: () => away,
    async close() {
      if (state === 'open') state = 'closing'
      wake()
      if (running !== undefined) await inTime(running, limits.drainMs)
      state = 'closed'
      deadline.expire()
      const rest = [...writing, ...take(queue.length, Number.POSITIVE_INFINITY)]
      writing = []
      await putAside(rest)
      await spool.close()
      await overdue?.close()
      shed?.report()
      lost.report()
    },
  }
}
