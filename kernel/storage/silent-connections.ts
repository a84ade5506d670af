import type { Sql } from 'postgres'

/** The longest that a new connection may take to tell what the server is at. */
const ANSWER_MS = 5_000
/** The longest that a reply which has been sent is on its way. */
const REPLY_MS = 1_000

/** As the patch of the driver tells it. */
interface SilentConnection {
  /** Of its backend, as the server or a pooler has named it. */
  readonly pid: number
  /** No statement waits for it. */
  readonly idle: boolean
  readonly end: () => void
}

/** Those of a pool over which nothing has come for `ms`. */
function silentFor(sql: Sql, ms: number): readonly SilentConnection[] {
  return (sql as Sql & { silent(ms: number): readonly SilentConnection[] }).silent(ms)
}

/**
 * Ends connections over which nothing has come for `ms` while a statement waits for it, unless the
 * server is at work on that statement; resolves to how many. A host that vanishes, or a path that is
 * cut, ends none itself, and the system would try them for a quarter of an hour. Where `connect`, a
 * pool of its own, gets no answer, nothing is ended.
 */
export async function endSilent(sql: Sql, connect: () => Sql, ms: number): Promise<number> {
  if (silentFor(sql, ms).every(({ idle }) => idle)) return 0
  const working = await workingBackends(connect())
  if (working === undefined) return 0
  // What the others have said meanwhile is on its way.
  await Bun.sleep(REPLY_MS)
  const silent = silentFor(sql, ms)
  const gone = silent.filter(({ pid, idle }) => !idle && !working.has(pid))
  if (gone.length === 0) return 0
  // Those that nobody waits for, such as the one that listens, would not be noticed.
  for (const { end } of [...gone, ...silent.filter(({ idle }) => idle)]) end()
  return gone.length
}

/** The backends that are at work on a statement; undefined when that cannot be told. */
async function workingBackends(sql: Sql): Promise<ReadonlySet<number> | undefined> {
  const limit = setTimeout(() => void sql.end({ timeout: 0 }), ANSWER_MS)
  // Of a session whose activities are not tracked nobody knows, so it counts as being at work.
  const asked = sql<{ pid: number; own: number }[]>`
    select pid, pg_backend_pid() as own from pg_stat_activity
    where pid = pg_backend_pid() or state in ('active', 'disabled')`
  // The server is away: its connections are no more gone than itself.
  const backends = await asked.catch(() => [])
  // A pooler names its connections by itself: nothing can be told of the server's.
  const named = silentFor(sql, 0).some(({ pid }) => pid === backends[0]?.own)
  clearTimeout(limit)
  await sql.end({ timeout: 0 })
  return named ? new Set(backends.map(({ pid }) => pid)) : undefined
}
