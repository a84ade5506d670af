import type { Database } from 'model-gateway/plugin'
import { arrayOf, columnNames } from '../_shared/batch-row.ts'
import { type Day, dayOf, isoDay, tables } from './partitions.ts'
import type { Row } from './row.ts'

export interface Store {
  /** Creates missing partitions; replicas take turns. */
  ensurePartitions(days: readonly Day[]): Promise<void>
  /**
   * Writes rows with their payloads, tags and attempts in one statement. Rows whose summary exists
   * change nothing, so writing can be repeated.
   */
  write(rows: readonly Row[]): Promise<void>
}

const summaryColumns = `id uuid, occurred_at timestamptz, request_id text, owner_kind text,
  user_id text, team_id text, service_account_id text, api_key_id text, model_key text,
  resolved_model_key text, provider_key text, upstream_model text, operation text, stream boolean,
  status_code integer, outcome text, error_code text, error_message text, latency_ms integer,
  prompt_tokens bigint, completion_tokens bigint, total_tokens bigint, cache_read_tokens bigint,
  cache_write_tokens bigint, reasoning_tokens bigint, pricing_status text, cost_pico_usd bigint,
  user_agent text, agent_harness_key text, agent_harness_label text, exposed_tool_count integer,
  service text,
  component text, env text, invoked_tool_count integer, config_version text, metadata_json jsonb`
const attemptColumns = `attempt_number integer, provider_key text, provider_type text,
  route_id text, upstream_model text, status text, started_at timestamptz, latency_ms integer,
  first_byte_ms integer, upstream_status integer, upstream_request_id text,
  error_code text, error_message text`
const payloadColumns =
  'request json, response json, request_truncated boolean, response_truncated boolean'

/** The names in a list of columns, each after `prefix`. */
function names(columns: string, prefix = ''): string {
  return columnNames(columns)
    .map((name) => `${prefix}${name}`)
    .join(', ')
}

/** Columns that the child tables copy from the summary. */
const childColumns = 'request_log_id, occurred_at, request_id'

/** Columns of tool counts, with their prefix in the roll-up. */
const dimensions = [
  ['exposed_tool_count', 'exposed_tool'],
  ['invoked_tool_count', 'invoked_tool'],
  ['referenced_mcp_server_count', 'referenced_mcp_server'],
  ['filtered_tool_count', 'filtered_tool'],
] as const

/** `$1`: rows with payloads, as a JSON array. Everything else follows the new summaries. */
function insertStatement(schema: string): string {
  const sums = dimensions.flatMap(([, name]) => [`${name}_sum`, `${name}_requests`])
  const added = ['request_count', ...sums]
  return `
    with input as materialized (
      select * from json_to_recordset($1::text::json)
        as r (${summaryColumns}, tags json, attempts json, ${payloadColumns})
    ), summaries as (
      insert into "${schema}".request_logs (${names(summaryColumns)},
        has_payload, request_payload_truncated, response_payload_truncated)
      select ${names(summaryColumns)}, request is not null,
        coalesce(request_truncated, false), coalesce(response_truncated, false)
      from input
      on conflict do nothing
      returning id, occurred_at, request_id, owner_kind, user_id, service_account_id,
        agent_harness_key, agent_harness_label, metadata_json, ${dimensions.map(([count]) => count).join(', ')}
    ), kept_payloads as (
      insert into "${schema}".request_log_payloads
        (${childColumns}, request_json, response_json)
      select s.id, s.occurred_at, s.request_id, i.request, i.response
      from summaries s join input i on i.id = s.id and i.request is not null
    ), kept_tags as (
      insert into "${schema}".request_log_tags (${childColumns}, key, value)
      select s.id, s.occurred_at, s.request_id, t.key, t.value
      from summaries s join input i on i.id = s.id
        cross join json_to_recordset(i.tags) as t (key text, value text)
    ), kept_attempts as (
      insert into "${schema}".request_log_attempts (${childColumns}, ${names(attemptColumns)})
      select s.id, s.occurred_at, s.request_id, ${names(attemptColumns, 'a.')}
      from summaries s join input i on i.id = s.id
        cross join json_to_recordset(i.attempts) as a (${attemptColumns})
    )
    insert into "${schema}".harness_rollups as r
      (bucket_start, owner_kind, owner_id, agent_harness_key, agent_harness_label, ${added.join(', ')})
    select date_bin('12 hours', occurred_at, 'epoch'), owner_kind,
      coalesce(user_id, service_account_id), agent_harness_key, max(agent_harness_label), count(*),
      ${dimensions.map(([count]) => `coalesce(sum(${count}), 0), count(${count})`).join(', ')}
    -- A spool of an earlier version may have rows without an owner.
    from summaries where owner_kind is not null
      and metadata_json -> 'priced' is distinct from 'false'::jsonb group by 1, 2, 3, 4
    -- In the same order everywhere, so that replicas cannot deadlock.
    order by 1, 2, 3, 4
    on conflict (bucket_start, owner_kind, owner_id, agent_harness_key) do update set
      ${added.map((column) => `${column} = r.${column} + excluded.${column}`).join(', ')}`
}

export function createStore({ sql, schema }: Database): Store {
  const insert = insertStatement(schema)

  const write = async (rows: readonly Row[]): Promise<void> => {
    await sql.unsafe(insert, [arrayOf(rows)], { prepare: true })
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
          // Attaching, unlike `create … partition of`, does not block the table.
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
        // For rows that waited several days for the database.
        await ensurePartitions([...new Set(rows.map((row) => dayOf(row.occurredAt)))])
        await write(rows)
      }
    },
  }
}

const CHECK_VIOLATION = '23514'

/** Other checks have a constraint name; a missing partition has none. */
function lacksPartition(error: unknown): boolean {
  const { code, constraint_name } = error as { code?: unknown; constraint_name?: unknown }
  return code === CHECK_VIOLATION && constraint_name === undefined
}
