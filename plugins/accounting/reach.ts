import { inTime } from 'model-gateway/plugin'
import type { Logger } from 'pino'
import { isRowFault } from '../_shared/batch-row.ts'

/** Whether the database answers, judged by the calls made through this object. */
export interface Reach {
  readonly away: boolean
  /**
   * Rejects when the call fails or times out. Unless a row is at fault, the database then counts as
   * unreachable.
   */
  call<T>(work: () => Promise<T>): Promise<T>
  /** The same for work of up to `mostMs`, during which the database must answer pings. */
  patiently<T>(work: () => Promise<T>, ping: () => Promise<void>, mostMs: number): Promise<T>
  /** Checks whether the database answers again. */
  probe(ping: () => Promise<void>): Promise<void>
}

export function createReach(options: {
  readonly timeoutMs: () => number
  readonly log: Logger
  /** Called when the database becomes unreachable. */
  readonly lost: () => void
}): Reach {
  const { timeoutMs, log, lost } = options
  let away = false

  async function watched<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (err) {
      if (!away && !isRowFault(err)) {
        away = true
        log.warn({ err }, 'the database is unreachable: writing to the spool')
        lost()
      }
      throw err
    }
  }

  const call = <T>(work: () => Promise<T>): Promise<T> =>
    watched(async () => {
      const ms = timeoutMs()
      // A call that timed out may still succeed, which is harmless here.
      const done = await inTime(work(), ms)
      if (done === undefined) throw new Error(`no answer within ${ms} ms`)
      return done.value
    })

  return {
    get away() {
      return away
    },
    call,
    patiently: (work, ping, mostMs) =>
      watched(async () => {
        const deadline = performance.now() + mostMs
        const running = work()
        for (;;) {
          const done = await inTime(running, timeoutMs())
          if (done !== undefined) return done.value
          // The connection of the work may be dead even if others work.
          if (performance.now() > deadline) throw new Error(`no answer within ${mostMs} ms`)
          await call(ping)
        }
      }),
    async probe(ping) {
      await call(ping)
      if (!away) return
      away = false
      log.info('the database is reachable again')
    },
  }
}
