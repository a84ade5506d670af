import type { Logger } from 'pino'
import type { OpenDatabase } from '../storage/database.ts'
import { createSchedule } from './schedule.ts'

const LOOK_EVERY_MS = 2000
const PATIENCE_MS = 1000
const SILENCE_MS = 10_000

export interface DatabaseWatch {
  /** Whether the last query was answered within a second. */
  reachable(): boolean
  stop(): void
}

/**
 * Queries the database every two seconds. Read-only sessions are terminated, because a session that
 * began read-only stays so, while a new connection may reach the primary after a failover.
 * Connections that no longer respond are closed.
 */
export function watchDatabase(
  { sql, endSilent }: Pick<OpenDatabase, 'sql' | 'endSilent'>,
  log: Logger,
  silenceMs = SILENCE_MS,
): DatabaseWatch {
  const over = new AbortController()
  let reachable = true
  /** Some sessions may be read-only. */
  let readOnly = false
  const note = (now: boolean) => {
    if (over.signal.aborted || now === reachable) return
    reachable = now
    if (now) log.info('the database can be reached again')
    else log.warn('the database cannot be reached')
  }
  const endAll = () => {
    readOnly = false
    // Each query gets a different session; sessions that are in use are handled in a later round.
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
    // A query that hangs counts as unreachable until it returns.
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

/** Terminates the session that runs this query if it is read-only; returns whether it did. */
async function endReadOnly(sql: OpenDatabase['sql']): Promise<boolean> {
  try {
    await sql`select pg_terminate_backend(pg_backend_pid())
      where current_setting('transaction_read_only') = 'on'`
    return false
  } catch {
    return true
  }
}
