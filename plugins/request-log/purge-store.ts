import type { Database } from 'model-gateway/plugin'
import { DAY_MS, type Day, dayOf, tables } from './partitions.ts'

/** A reserved connection. */
type Session = Awaited<ReturnType<Database['sql']['reserve']>>

/** Another process is purging. */
export type Busy = 'busy'

export interface PurgeStore {
  /** Number of request logs before the cutoff, which `purge` would delete. */
  count(cutoff: Date): Promise<number>
  /** Deletes request logs before the cutoff with all their rows; returns their number. */
  purge(cutoff: Date): Promise<number | Busy>
  /** Like `purge`, unless a scheduled purge already ran on the UTC day of `now`. */
  purgeOnce(now: Date, cutoff: Date): Promise<number | Busy | 'done'>
  /**
   * Time of the last scheduled purge. If none ran, records and returns `otherwise`, for all
   * processes.
   */
  lastScheduled(otherwise: Date): Promise<Date>
}

export interface PurgeLimits {
  /** Lock timeout of a statement, because other statements may queue behind it. */
  readonly lockTimeoutMs: number
  readonly tries: number
  readonly pauseMs: number
}

const usualLimits: PurgeLimits = { lockTimeoutMs: 2_000, tries: 10, pauseMs: 500 }

/** Time span of rows that one transaction deletes. */
const SLICE_MS = 900_000
const LOCK_NOT_AVAILABLE = '55P03'

interface Partition {
  readonly name: string
  readonly table: string
  readonly day: Day
  /** `pending`: a detachment that was interrupted. */
  readonly state: 'attached' | 'pending' | 'detached'
}

export function createPurgeStore(
  { sql, schema }: Database,
  limits: PurgeLimits = usualLimits,
): PurgeStore {
  /** Includes days that were detached but not dropped. */
  async function partitions(): Promise<readonly Partition[]> {
    const rows = await sql<{ name: string; state: Partition['state'] }[]>`
      select c.relname as name, case when i.inhparent is null then 'detached'
        when i.inhdetachpending then 'pending' else 'attached' end as state
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
        left join pg_inherits i on i.inhrelid = c.oid
      where n.nspname = ${schema} and c.relkind = 'r'
        and c.relname ~ ${`^(${tables.join('|')})_p[0-9]{8}$`}
      order by right(c.relname, 8), array_position(${tables}, left(c.relname, -10))`
    return rows.map(({ name, state }) => {
      const [year, month, day] = [name.slice(-8, -4), name.slice(-4, -2), name.slice(-2)]
      const at = Date.parse(`${year}-${month}-${day}T00:00:00Z`)
      return { name, table: name.slice(0, -10), day: dayOf(at), state }
    })
  }

  async function countRows(run: Pick<typeof sql, 'unsafe'>, table: string, where = 'true') {
    const [row] = await run.unsafe<{ count: string }[]>(
      `select count(*)::text as count from "${schema}"."${table}" where ${where}`,
    )
    return Number(row?.count)
  }

  /** Runs a statement that may wait for a lock, and retries after a lock timeout. */
  async function patiently<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work()
      } catch (error) {
        const { code } = error as { code?: unknown }
        if (code !== LOCK_NOT_AVAILABLE || tries === limits.tries) throw error
        await Bun.sleep(limits.pauseMs)
      }
    }
  }

  /** Detaches a day from its table, concurrently with readers and writers. */
  async function detach(session: Session, { name, table }: Partition): Promise<void> {
    const run = (partition: string, how: 'finalize' | 'concurrently') =>
      session.unsafe(
        `alter table "${schema}".${table} detach partition "${schema}"."${partition}" ${how}`,
      )
    await patiently(async () => {
      // A new detachment can only start after the interrupted one is finished.
      const ofTable = (await partitions()).filter((partition) => partition.table === table)
      const pending = ofTable.find(({ state }) => state === 'pending')
      if (pending !== undefined) await run(pending.name, 'finalize')
      const attached = ofTable.some((other) => other.name === name && other.state === 'attached')
      if (attached) await run(name, 'concurrently')
    })
  }

  async function drop(session: Session, partition: Partition): Promise<number> {
    const { name, table } = partition
    await detach(session, partition)
    // It receives no more writes.
    const rows = table === 'request_logs' ? await countRows(session, name) : 0
    await patiently(() => session.unsafe(`drop table if exists "${schema}"."${name}"`))
    return rows
  }

  /** Deletes the rows of a day before the cutoff. */
  async function deleteRows(from: number, cutoff: number): Promise<number> {
    let deleted = 0
    for (let start = from; start < cutoff; start += SLICE_MS) {
      const range = between(start, Math.min(start + SLICE_MS, cutoff))
      deleted += await sql.begin(async (transaction) => {
        const [first = 0] = await Promise.all(
          tables.map(async (table) => {
            const { count } = await transaction.unsafe(
              `delete from "${schema}".${table} where ${range}`,
            )
            return count
          }),
        )
        return first
      })
    }
    return deleted
  }

  async function purge(session: Session, cutoff: Date): Promise<number> {
    await session`
      update ${session(schema)}.retention
      set kept_since = greatest(kept_since, ${cutoff}::timestamptz)`
    const today = dayOf(cutoff.getTime())
    let deleted = 0
    const all = await partitions()
    for (const partition of all.filter(({ day }) => day < today)) {
      deleted += await drop(session, partition)
    }
    if (all.some(({ day, state }) => day === today && state === 'attached')) {
      deleted += await deleteRows(today * DAY_MS, cutoff.getTime())
    }
    return deleted
  }

  /** Runs `work` unless another process is purging. */
  async function alone<T>(work: (session: Session) => Promise<T>): Promise<T | Busy> {
    const session = await sql.reserve()
    try {
      const key = `${schema} purge`
      const [lock] = await session<{ got: boolean }[]>`
        select pg_try_advisory_lock(hashtextextended(${key}, 0)) as got`
      if (lock?.got !== true) return 'busy'
      try {
        await session`select set_config('lock_timeout', ${`${limits.lockTimeoutMs}ms`}, false)`
        return await work(session)
      } finally {
        await session`select set_config('lock_timeout', '0', false),
          pg_advisory_unlock(hashtextextended(${key}, 0))`
      }
    } finally {
      session.release()
    }
  }

  return {
    async lastScheduled(otherwise) {
      const [row] = await sql<{ scheduled_at: Date }[]>`
        update ${sql(schema)}.retention set scheduled_at = coalesce(scheduled_at, ${otherwise})
        returning scheduled_at`
      return row?.scheduled_at ?? otherwise
    },
    async count(cutoff) {
      const today = dayOf(cutoff.getTime())
      let rows = 0
      for (const { name, table, day, state } of await partitions()) {
        if (table !== 'request_logs' || day > today) continue
        if (day < today) rows += await countRows(sql, name)
        else if (state === 'attached') {
          rows += await countRows(sql, name, between(0, cutoff.getTime()))
        }
      }
      return rows
    },
    purge: (cutoff) => alone((session) => purge(session, cutoff)),
    purgeOnce: (now, cutoff) =>
      alone(async (session) => {
        const [last] = await session<{ scheduled_at: Date | null }[]>`
          select scheduled_at from ${session(schema)}.retention`
        const day = dayOf(now.getTime())
        if (last?.scheduled_at && dayOf(last.scheduled_at.getTime()) >= day) return 'done'
        const deleted = await purge(session, cutoff)
        await session`update ${session(schema)}.retention set scheduled_at = ${now}`
        return deleted
      }),
  }
}

function between(start: number, end: number): string {
  const text = (ms: number) => new Date(ms).toISOString()
  return `occurred_at >= '${text(start)}' and occurred_at < '${text(end)}'`
}
