import type { Logger } from 'pino'

/** Whether the database answers, as far as the calls that go through here have found. */
export interface Reach {
  readonly away: boolean
  /** Rejects when the call fails or takes too long; unless a row is at fault, the database is away then. */
  call<T>(work: () => Promise<T>): Promise<T>
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

  async function call<T>(work: () => Promise<T>): Promise<T> {
    const ms = timeoutMs()
    let timer: ReturnType<typeof setTimeout> | undefined
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
    })
    try {
      // A call that is given up may still succeed; nothing here minds.
      return await Promise.race([work(), tooLate])
    } catch (err) {
      if (!away && !isRowFault(err)) {
        away = true
        log.warn({ err }, 'the database is away: what is to be written goes to the spool')
        lost()
      }
      throw err
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    get away() {
      return away
    },
    call,
    async probe(ping) {
      await call(ping)
      if (!away) return
      away = false
      log.info('the database is back')
    },
  }
}

/** The row itself is at fault, not the database: bad data, or a constraint. */
export function isRowFault(error: unknown): boolean {
  return /^2[23]/.test((error as { code?: string }).code ?? '')
}
