import { inTime } from 'model-gateway/plugin'
import type { Logger } from 'pino'
import { isRowFault } from '../_shared/batch-row.ts'

/** Whether the database answers, as far as the calls that go through here have found. */
export interface Reach {
  readonly away: boolean
  /** Rejects when the call fails or takes too long; unless a row is at fault, the database is away then. */
  call<T>(work: () => Promise<T>): Promise<T>
  /** The same for what may take `mostMs`, as long as the database answers a `ping` meanwhile. */
  patiently<T>(work: () => Promise<T>, ping: () => Promise<void>, mostMs: number): Promise<T>
  /** Tries whether it answers again. */
  probe(ping: () => Promise<void>): Promise<void>
}

export function createReach(options: {
  readonly timeoutMs: () => number
  readonly log: Logger
  /** Called when it has just gone away. */
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
      // A call that is given up may still succeed; nothing here minds.
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
          // Its connection may be dead although others live.
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
