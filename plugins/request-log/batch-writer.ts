import type { Disposer } from 'model-gateway/plugin'
import type { Logger } from 'pino'
import type { Row } from './row.ts'
import { isRowFault } from './store.ts'

export interface Limits {
  readonly batchRows: number
  /** Longest time that a row waits for others. */
  readonly gatherMs: number
  /** Size of all waiting rows together, in characters. */
  readonly queueChars: number
  readonly retryMinMs: number
  readonly retryMaxMs: number
  /** How long disposal waits for the waiting rows to be written. */
  readonly drainMs: number
  /** Losses are logged once in this time. */
  readonly lossReportMs: number
}

/** A usual row has about 1,000 characters. */
export const usualLimits: Limits = {
  batchRows: 500,
  gatherMs: 100,
  queueChars: 64 * 1024 * 1024,
  retryMinMs: 100,
  retryMaxMs: 5_000,
  drainMs: 5_000,
  lossReportMs: 10_000,
}

export interface BatchWriter {
  /** Never waits and never throws; a row that finds the queue full is lost, and counted. */
  push(row: Row): void
  /** Writes what is waiting, for a limited time. */
  close: Disposer
}

/** Gathers rows and writes them in batches, one after the other, until the database takes them. */
export function createBatchWriter(
  write: (rows: readonly Row[]) => Promise<void>,
  log: Logger,
  limits: Limits = usualLimits,
): BatchWriter {
  const queue: Row[] = []
  let queuedChars = 0
  let unwritten = 0
  let running: Promise<void> | undefined
  let state: 'open' | 'closing' | 'closed' = 'open'

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

  let lost = 0
  let reportedAt = Number.NEGATIVE_INFINITY
  const reportLoss = (reason: string, err?: unknown): void => {
    reportedAt = performance.now()
    log.error({ lost, reason, err }, 'request-log rows were lost')
    lost = 0
  }
  const lose = (reason: string, err?: unknown): void => {
    lost += 1
    if (performance.now() - reportedAt >= limits.lossReportMs) reportLoss(reason, err)
  }

  const writeUntilTaken = async (rows: readonly Row[]): Promise<void> => {
    for (let failures = 0; state !== 'closed'; failures += 1) {
      try {
        await write(rows)
        unwritten -= rows.length
        if (failures > 0) log.info({ failures }, 'the request log is being written again')
        return
      } catch (err) {
        if (isRowFault(err)) return await writeWithoutFaulty(rows, err)
        if (failures === 0) {
          log.warn({ err }, 'the request log cannot be written; its rows wait in memory')
        }
        const pause = Math.min(limits.retryMinMs * 2 ** failures, limits.retryMaxMs)
        await sleep(state === 'open' ? pause : limits.retryMinMs)
      }
    }
  }

  /** Finds the row that the database refuses by halving, so that the others are written. */
  const writeWithoutFaulty = async (rows: readonly Row[], err: unknown): Promise<void> => {
    if (rows.length === 1) {
      unwritten -= 1
      lose('the database refused a row', err)
      return
    }
    const middle = rows.length >> 1
    await writeUntilTaken(rows.slice(0, middle))
    await writeUntilTaken(rows.slice(middle))
  }

  const run = async (): Promise<void> => {
    while (queue.length > 0) {
      if (queue.length < limits.batchRows && state === 'open') await sleep(limits.gatherMs)
      const batch = queue.splice(0, limits.batchRows)
      for (const row of batch) queuedChars -= row.json.length
      await writeUntilTaken(batch)
    }
    running = undefined
  }

  return {
    push(row) {
      if (state === 'closed') return lose('the log is closed')
      if (queuedChars + row.json.length > limits.queueChars) return lose('the queue is full')
      queue.push(row)
      queuedChars += row.json.length
      unwritten += 1
      if (running === undefined) running = run()
      else if (queue.length === limits.batchRows) wake()
    },
    async close() {
      if (state === 'open') state = 'closing'
      wake()
      if (running !== undefined) {
        let deadline: Timer | undefined
        const tooLate = new Promise<void>((resolve) => {
          deadline = setTimeout(resolve, limits.drainMs)
        })
        await Promise.race([running, tooLate])
        clearTimeout(deadline)
      }
      state = 'closed'
      lost += unwritten
      unwritten = 0
      queue.length = 0
      wake()
      if (lost > 0) reportLoss('the log was closed')
    },
  }
}
