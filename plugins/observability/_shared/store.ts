import type { Database } from 'model-gateway/plugin'
import type { TransactionSql } from 'postgres'
import { createTurns } from '../../_shared/turns.ts'
import type { Frame } from './frame.ts'

/** One moment of the database, for all statements of a report. */
export type Reader = Pick<TransactionSql, 'unsafe' | 'savepoint'>

export interface Reports {
  /** Runs `work` when it is its turn. It can change nothing, and ends after ten seconds. */
  read<T>(work: (reader: Reader) => Promise<T>): Promise<T>
}

/** How many reports run at once, so that they leave connections to the requests of callers. */
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
            // The pool's type does not say that a promise is unwrapped, which it is.
          }) as Promise<Awaited<ReturnType<typeof work>>>,
      ),
  }
}

/**
 * What `work` found; undefined when one of its statements takes longer than `ms`, and then the
 * report goes on without it.
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

// Compiling takes longer than running, and other processors are not for reports.
const settings = `select set_config('statement_timeout', '${REPORT_TIMEOUT}', true), set_config('jit', 'off', true),
  set_config('max_parallel_workers_per_gather', '0', true), set_config('work_mem', '32MB', true),
  set_config('enable_partitionwise_join', 'on', true)`

/** The rows of a roll-up that are in a frame, whose bounds are `$1` and `$2`. */
export const inFrame = 'bucket_start >= $1::timestamptz and bucket_start < $2::timestamptz'

export function boundsOf({ start, end }: Pick<Frame, 'start' | 'end'>): [string, string] {
  return [start.toISOString(), end.toISOString()]
}

/** USD × 10⁻¹² as a plain decimal amount of USD without trailing zeros. */
export function usdSql(picoUsd: string): string {
  return `trim_scale((${picoUsd}) * 0.000000000001)::text`
}

/** The name that an id of another plugin's table has, if it is one. */
export function nameSql(table: 'users' | 'teams' | 'service_accounts', id: string): string {
  // In a subquery of its own the id is converted once, not for each row that it is compared with.
  return `(select name from "${identity}".${table} where id = (
    select case when ${id} ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then ${id}::uuid end))`
}
