import type { Database } from 'model-gateway/plugin'
import { type Day, dayOf, isoDay } from './partitions.ts'
import type { Row } from './row.ts'

export interface Store {
  /** Makes the partitions that are missing; replicas take turns. */
  ensurePartitions(days: readonly Day[]): Promise<void>
  /** Writes rows with their attempts in one statement; a row that is there already stays as it is. */
  write(rows: readonly Row[]): Promise<void>
}

const summaryColumns = `id uuid, occurred_at timestamptz, request_id text, owner_kind text,
  user_id text, team_id text, service_account_id text, api_key_id text, model_key text,
  resolved_model_key text, provider_key text, upstream_model text, operation text, stream boolean,
  status_code integer, outcome text, error_code text, error_message text, latency_ms integer,
  prompt_tokens bigint, completion_tokens bigint, total_tokens bigint, cache_read_tokens bigint,
  cache_write_tokens bigint, reasoning_tokens bigint, pricing_status text, cost_pico_usd bigint,
  user_agent text, agent_harness_key text, agent_harness_label text, exposed_tool_count integer,
  invoked_tool_count integer, config_version text, metadata_json jsonb`
const attemptColumns = `attempt_number integer, provider_key text, provider_type text,
  route_id text, upstream_model text, status text, started_at timestamptz, latency_ms integer,
  first_byte_ms integer, upstream_status integer, error_code text, error_message text`

/** The names in a list of columns, each behind `prefix`. */
function names(columns: string, prefix = ''): string {
  return columns
    .split(',')
    .map((column) => `${prefix}${column.trim().split(' ')[0]}`)
    .join(', ')
}

const tables = ['request_logs', 'request_log_attempts']

export function createStore({ sql, schema }: Database): Store {
  const insert = `
    with input as materialized (
      select * from json_to_recordset($1::text::json) as r (${summaryColumns}, attempts json)
    ), summaries as (
      insert into "${schema}".request_logs (${names(summaryColumns)})
      select ${names(summaryColumns)} from input
      on conflict do nothing
    )
    insert into "${schema}".request_log_attempts
      (request_log_id, occurred_at, request_id, ${names(attemptColumns)})
    select i.id, i.occurred_at, i.request_id, ${names(attemptColumns, 'a.')}
    from input i cross join json_to_recordset(i.attempts) as a (${attemptColumns})
    on conflict do nothing`

  const write = async (rows: readonly Row[]): Promise<void> => {
    const json = `[${rows.map((row) => row.json).join(',')}]`
    await sql.unsafe(insert, [json], { prepare: true })
  }

  const ensurePartitions = async (days: readonly Day[]): Promise<void> => {
    await sql.begin(async (session) => {
      await session`select pg_advisory_xact_lock(hashtextextended(${`${schema} partitions`}, 0))`
      for (const table of tables) {
        const attached = await session<{ name: string }[]>`
          select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
          where i.inhparent = ${`"${schema}".${table}`}::regclass`
        const existing = new Set(attached.map((row) => row.name))
        for (const day of days) {
          const name = `${table}_p${isoDay(day).replaceAll('-', '')}`
          if (existing.has(name)) continue
          // Attaching, unlike `create … partition of`, keeps nobody from the table.
          await session.unsafe(`
            create table if not exists "${schema}"."${name}"
              (like "${schema}".${table} including all);
            alter table "${schema}".${table} attach partition "${schema}"."${name}"
              for values from ('${isoDay(day)}T00:00:00Z') to ('${isoDay(day + 1)}T00:00:00Z')`)
        }
      }
    })
  }

  return {
    ensurePartitions,
    async write(rows) {
      try {
        await write(rows)
      } catch (error) {
        if (!lacksPartition(error)) throw error
        // Rows that waited for the database for days.
        await ensurePartitions([...new Set(rows.map((row) => dayOf(row.occurredAt)))])
        await write(rows)
      }
    },
  }
}

const CHECK_VIOLATION = '23514'

/** A check fails by its name; the one that no partition passes has none. */
function lacksPartition(error: unknown): boolean {
  const { code, constraint_name } = error as { code?: unknown; constraint_name?: unknown }
  return code === CHECK_VIOLATION && constraint_name === undefined
}

/** Whether the database refused one of the rows, rather than being out of reach. */
export function isRowFault(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^2[23][0-9A-Z]{3}$/.test(code)
}
