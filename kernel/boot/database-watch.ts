import type { Logger } from 'pino'
import type { OpenDatabase } from '../storage/database.ts'
import { createSchedule } from './schedule.ts'

const LOOK_EVERY_MS = 2000
const PATIENCE_MS = 1000
const SILENCE_MS = 10_000

export interface DatabaseWatch {
  /** Whether it answered the last time, within a second. */
  reachable(): boolean
  stop(): void
}

/**
 * Asks the database every two seconds whether it is there. Sessions that cannot write are ended:
 * those that began so stay so, while the next may lead to the server that took over. Connections that
 * are gone without a word are given up.
 */
export function watchDatabase(
  { sql, endSilent }: Pick<OpenDatabase, 'sql' | 'endSilent'>,
  log: Logger,
  silenceMs = SILENCE_MS,
): DatabaseWatch {
  const over = new AbortController()
  let reachable = true
  /** There may be sessions that cannot write. */
  let readOnly = false
  const note = (now: boolean) => {
    if (over.signal.aborted || now === reachable) return
    reachable = now
    if (now) log.info('the database can be reached again')
    else log.warn('the database cannot be reached')
  }
  const endAll = () => {
    readOnly = false
    // Each comes to another session, unless some are in use: those are waited for by nobody.
    for (let n = 0; n < sql.options.max; n++) {
      void endReadOnly(sql).then((ended) => {
        readOnly ||= ended
      })
    }
  }
  const schedule = createSchedule(log, over.signal)
  schedule.every(silenceMs, async () => {
    const connections = await endSilent(silenceMs)
    if (connections > 0)
      log.warn({ connections }, 'closed database connections that no longer respond')
  })
  schedule.every(LOOK_EVERY_MS, async () => {
    // One that hangs is waited for; until then it is away.
    const late = setTimeout(() => note(false), PATIENCE_MS)
    try {
      const [session] = await sql<{ readOnly: boolean }[]>`
        select current_setting('transaction_read_only') = 'on' as "readOnly"`
      note(true)
      if (session?.readOnly || readOnly) endAll()
    } catch {
      note(false)
    } finally {
      clearTimeout(late)
    }
  })
  return { reachable: () => reachable, stop: () => over.abort() }
}

/** Ends the session that this comes to, which may be another one, if it cannot write; whether it has. */
async function endReadOnly(sql: OpenDatabase['sql']): Promise<boolean> {
  try {
    await sql`select pg_terminate_backend(pg_backend_pid())
      where current_setting('transaction_read_only') = 'on'`
    return false
  } catch {
    return true
  }
}
