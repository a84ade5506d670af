import type { Sql } from 'postgres'

/** Limit for a new connection to return the server's activity. */
const ANSWER_MS = 5_000
/** Limit for a reply that is already on its way. */
const REPLY_MS = 1_000

/** Reported by the patched driver. */
interface SilentConnection {
  /** Process id of its backend, as reported by the server or a pooler. */
  readonly pid: number
  /** No statement waits on it. */
  readonly idle: boolean
  readonly end: () => void
}

/** Connections of a pool that received nothing for `ms`. */
function silentFor(sql: Sql, ms: number): readonly SilentConnection[] {
  return (sql as Sql & { silent(ms: number): readonly SilentConnection[] }).silent(ms)
}

/**
 * Closes connections that received nothing for `ms` while a statement waits, unless the server
 * still runs that statement; returns their number. Without this, the system retries for a quarter
 * of an hour after a host vanishes. Closes nothing if `connect`, a separate pool, gets no answer.
 */
export async function endSilent(sql: Sql, connect: () => Sql, ms: number): Promise<number> {
  if (silentFor(sql, ms).every(({ idle }) => idle)) return 0
  const working = await workingBackends(connect())
  if (working === undefined) return 0
  // Replies sent in the meantime may still be on their way.
  await Bun.sleep(REPLY_MS)
  const silent = silentFor(sql, ms)
  const gone = silent.filter(({ pid, idle }) => !idle && !working.has(pid))
  if (gone.length === 0) return 0
  // Idle connections, such as the one that listens, would otherwise not notice.
  for (const { end } of [...gone, ...silent.filter(({ idle }) => idle)]) end()
  return gone.length
}

/** The backends that run a statement; undefined if that cannot be determined. */
async function workingBackends(sql: Sql): Promise<ReadonlySet<number> | undefined> {
  const limit = setTimeout(() => void sql.end({ timeout: 0 }), ANSWER_MS)
  // A session without activity tracking counts as running.
  const asked = sql<{ pid: number; own: number }[]>`
    select pid, pg_backend_pid() as own from pg_stat_activity
    where pid = pg_backend_pid() or state in ('active', 'disabled')`
  // If the server is unreachable, its connections are not closed.
  const backends = await asked.catch(() => [])
  // A pooler uses its own ids, so nothing is known about the server's backends.
  const named = silentFor(sql, 0).some(({ pid }) => pid === backends[0]?.own)
  clearTimeout(limit)
  await sql.end({ timeout: 0 })
  return named ? new Set(backends.map(({ pid }) => pid)) : undefined
}
