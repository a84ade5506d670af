import type { AuditTrail } from 'model-gateway/admin'
import type { Database } from 'model-gateway/plugin'

/** Database notification when a name was set or removed. */
export const NAMES_CHANGED = 'harness_names_changed'

export type Transaction = Parameters<AuditTrail['write']>[0]

/** A name that an administrator set. */
export interface HarnessName {
  /** Prefix of the User-Agents, in lower case. */
  readonly starts: string
  readonly key: string
  readonly label: string
  readonly created_at: Date
}

/** Requests that were logged as `unknown`, grouped by User-Agent prefix. */
export interface UnknownCaller {
  readonly starts: string
  /** The User-Agent of the newest request. */
  readonly user_agent: string
  readonly request_count: number
  readonly last_seen_at: Date
}

export interface HarnessStore {
  /** Ordered by prefix. */
  names(tx?: Transaction): Promise<readonly HarnessName[]>
  /** Sets or replaces a name; returns the previous one. */
  put(tx: Transaction, name: Omit<HarnessName, 'created_at'>): Promise<HarnessName | undefined>
  /** Removes a name; returns it. */
  remove(tx: Transaction, starts: string): Promise<HarnessName | undefined>
  unknownCallers(): Promise<readonly UnknownCaller[]>
}

/** Number of newest requests that are read, so that the cost of the list is bounded. */
export const MOST_LOOKED_AT = 10_000
const MOST_LISTED = 100
/** Maximum length of a User-Agent prefix. */
export const MOST_STARTS = 64
const TIMEOUT = '5s'

export function createHarnessStore({
  sql,
  schema,
}: Pick<Database, 'sql' | 'schema'>): HarnessStore {
  const names = sql(`${schema}.harness_names`)
  const find = async (tx: Transaction, starts: string) => {
    const [row] = await tx<
      HarnessName[]
    >`select * from ${names} where starts = ${starts} for update`
    return row
  }
  return {
    names: (tx: Transaction | typeof sql = sql) =>
      tx<HarnessName[]>`select * from ${names} order by starts collate "C"`,
    async put(tx, { starts, key, label }) {
      const before = await find(tx, starts)
      await tx`
        insert into ${names} (starts, key, label) values (${starts}, ${key}, ${label})
        on conflict (starts) do update set key = excluded.key, label = excluded.label`
      return before
    },
    async remove(tx, starts) {
      const before = await find(tx, starts)
      await tx`delete from ${names} where starts = ${starts}`
      return before
    },
    unknownCallers: () =>
      sql.begin('read only', async (tx) => {
        await tx`select set_config('statement_timeout', ${TIMEOUT}, true)`
        // Versions begin with a digit, so the text before the first digit is the same for all
        // versions.
        return await tx<UnknownCaller[]>`
          select lower(substring(user_agent from ${`^[^0-9]{1,${MOST_STARTS}}`})) as starts,
            (array_agg(user_agent order by occurred_at desc))[1] as user_agent,
            count(*)::int as request_count, max(occurred_at) as last_seen_at
          from (
            select user_agent, occurred_at from ${sql(`${schema}.request_logs`)}
            where agent_harness_key = 'unknown'
            order by occurred_at desc limit ${MOST_LOOKED_AT}
          ) as newest
          where user_agent ~ '^[^0-9]'
          group by 1 order by 3 desc, 1 limit ${MOST_LISTED}`
      }) as Promise<UnknownCaller[]>,
  }
}
