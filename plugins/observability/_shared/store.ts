import type { Database } from 'model-gateway/plugin'
import type { TransactionSql } from 'postgres'
import { createTurns } from '../../_shared/turns.ts'
import type { Frame } from './frame.ts'

/** One snapshot of the database for all statements of a report. */
export type Reader = Pick<TransactionSql, 'unsafe' | 'savepoint'>

export interface Reports {
  /**
   * Runs `work` in a read-only transaction when a slot is free; it is aborted after ten seconds.
   */
  read<T>(work: (reader: Reader) => Promise<T>): Promise<T>
}

/** Concurrent reports, so that connections remain for callers' requests. */
const AT_ONCE = 3
const REPORT_TIMEOUT = '10s'
const QUERY_CANCELED = '57014'

/** Schemas of the plugins whose tables are read. */
export const requestLog = 'request_log'
export const accounting = 'accounting'
const identity = 'identity'

export function createReports({ sql }: Pick<Database, 'sql'>): Reports {
  const turns = createTurns(AT_ONCE)
  return {
    read: (work) =>
      turns.run(
        () =>
          sql.begin('isolation level repeatable read read only', async (reader) => {
            await reader.unsafe(settings)
            return await work(reader)
            // The type of the pool does not show that the promise is unwrapped.
          }) as Promise<Awaited<ReturnType<typeof work>>>,
      ),
  }
}

/**
 * The result of `work`; undefined if one of its statements takes longer than `ms`. The report then
 * continues without it.
 */
export async function inTime<T>(
  reader: Reader,
  ms: number,
  work: (reader: Reader) => Promise<T>,
): Promise<T | undefined> {
  try {
    return (await reader.savepoint(async (nested) => {
      await nested.unsafe(`select set_config('statement_timeout', '${ms}ms', true)`)
      const found = await work(nested)
      await nested.unsafe(`select set_config('statement_timeout', '${REPORT_TIMEOUT}', true)`)
      return found
    })) as T
  } catch (error) {
    if ((error as { code?: unknown }).code === QUERY_CANCELED) return undefined
    throw error
  }
}

// JIT compilation takes longer than it saves, and parallel workers would take CPU from requests.
const settings = `select set_config('statement_timeout', '${REPORT_TIMEOUT}', true), set_config('jit', 'off', true),
  set_config('max_parallel_workers_per_gather', '0', true), set_config('work_mem', '32MB', true),
  set_config('enable_partitionwise_join', 'on', true)`

/** SQL condition for the roll-up rows of a frame, whose bounds are `$1` and `$2`. */
export const inFrame = 'bucket_start >= $1::timestamptz and bucket_start < $2::timestamptz'

export function boundsOf({ start, end }: Pick<Frame, 'start' | 'end'>): [string, string] {
  return [start.toISOString(), end.toISOString()]
}

/** USD × 10⁻¹² as a plain decimal amount of USD without trailing zeros. */
export function usdSql(picoUsd: string): string {
  return `trim_scale((${picoUsd}) * 0.000000000001)::text`
}

/** SQL for the name of an id in a table of another plugin, if the id is valid. */
export function nameSql(table: 'users' | 'teams' | 'service_accounts', id: string): string {
  // In a subquery, the id is converted once instead of once per compared row.
  return `(select name from "${identity}".${table} where id = (
    select case when ${id} ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then ${id}::uuid end))`
}
