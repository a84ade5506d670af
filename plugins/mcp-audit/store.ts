import type { Database } from 'model-gateway/plugin'
import type { OpenRow, WrittenRow } from './rows.ts'

/** A row that nobody has closed. */
export interface FoundRow {
  readonly id: string
  readonly occurredAt: Date
  readonly serverId: string
}

export interface Store {
  /** Makes rows, `started`. */
  open(rows: readonly OpenRow[], leaseMs: number): Promise<void>
  /** Finishes rows, adds payloads and overheads. Rows can be written again. */
  write(rows: readonly WrittenRow[]): Promise<void>
  /** Somebody still works on these. */
  hold(ids: readonly string[], leaseMs: number): Promise<void>
  /** Closes what nobody works on any more; returns whose they were. */
  sweep(): Promise<readonly { readonly serverId: string }[]>
  find(
    session: { readonly serverId: string; readonly hash: string },
    id: { readonly text: string; readonly type: string },
  ): Promise<FoundRow | undefined>
}

const openColumns = `id uuid, occurred_at timestamptz, request_id text, jsonrpc_id text,
  jsonrpc_id_type text, session_hash text, protocol_version text, owner_kind text, user_id text,
  service_account_id text, team_id text, api_key_id text, server_id text, server_key text,
  tool_id text, tool_name text, argument_metadata jsonb`
const openNames = openColumns.replaceAll(/\s(?:uuid|timestamptz|text|jsonb)(?=,|$)/g, '')

function statements(schema: string) {
  const invocations = `"${schema}".mcp_tool_invocations`
  return {
    open: `
      insert into ${invocations} (${openNames}, held_until)
      select ${openNames}, now() + $2::float8 * interval '1 ms'
      from json_to_recordset($1::text::json) as r (${openColumns})`,
    // A row that was given up too early may still be closed with what came of it.
    write: `
      with input as materialized (
        select * from json_to_recordset($1::text::json) as r (kind text, id uuid, status text,
          policy_result text, latency_ms integer, error_code text, guardrail_decision_id text,
          response_bytes bigint, result_metadata jsonb, finished_at timestamptz,
          held_until timestamptz, occurred_at timestamptz, request_id text, server_id text,
          tool_count integer, token_count bigint)
      ), closed as (
        update ${invocations} t set status = i.status, policy_result = i.policy_result,
          latency_ms = i.latency_ms, error_code = i.error_code,
          guardrail_decision_id = i.guardrail_decision_id, response_bytes = i.response_bytes,
          result_metadata = i.result_metadata, finished_at = i.finished_at
        from input i where i.kind = 'close' and t.id = i.id
          and t.status in ('started', 'incomplete')
      ), left_open as (
        update ${invocations} t set held_until = i.held_until
        from input i where i.kind = 'leave' and t.id = i.id and t.status = 'started'
          and not exists (select from input c where c.kind = 'close' and c.id = i.id)
      ), overheads as (
        insert into "${schema}".request_mcp_token_overheads
          (id, occurred_at, request_id, server_id, tool_count, token_count, source)
        select id, occurred_at, request_id, server_id, tool_count, token_count, 'estimate'
        from input where kind = 'overhead'
        on conflict do nothing
      )
      insert into "${schema}".mcp_tool_invocation_payloads as p (invocation_id, arguments_json,
        arguments_truncated, result_json, result_truncated)
      select id,
        (array_agg(arguments) filter (where arguments is not null))[1], bool_or(arguments_truncated),
        (array_agg(result) filter (where result is not null))[1], bool_or(result_truncated)
      from json_to_recordset($2::text::json) as r (id uuid, arguments json,
        arguments_truncated boolean, result json, result_truncated boolean)
      group by id
      on conflict (invocation_id) do update set
        arguments_json = coalesce(p.arguments_json, excluded.arguments_json),
        arguments_truncated = coalesce(p.arguments_truncated, excluded.arguments_truncated),
        result_json = coalesce(p.result_json, excluded.result_json),
        result_truncated = coalesce(p.result_truncated, excluded.result_truncated)`,
  }
}

export function createStore({ sql, schema }: Database): Store {
  const { open, write } = statements(schema)
  const invocations = sql(`${schema}.mcp_tool_invocations`)
  return {
    async open(rows, leaseMs) {
      await sql.unsafe(open, [JSON.stringify(rows), leaseMs], { prepare: true })
    },
    async write(rows) {
      const main = `[${rows.map(({ json }) => json).join(',')}]`
      const payloads = `[${rows.flatMap(({ payload }) => payload ?? []).join(',')}]`
      await sql.unsafe(write, [main, payloads], { prepare: true })
    },
    async hold(ids, leaseMs) {
      await sql`
        update ${invocations} set held_until = now() + ${leaseMs}::float8 * interval '1 ms'
        where id = any(${ids as string[]}::uuid[]) and status = 'started'`
    },
    async sweep() {
      return await sql<{ serverId: string }[]>`
        update ${invocations} set status = 'incomplete', finished_at = now()
        where status = 'started' and held_until < now()
        returning coalesce(server_id, '') as "serverId"`
    },
    async find({ serverId, hash }, { text, type }) {
      const [row] = await sql<FoundRow[]>`
        select id, occurred_at as "occurredAt", server_id as "serverId" from ${invocations}
        where session_hash = ${hash} and jsonrpc_id = ${text} and jsonrpc_id_type = ${type}
          and server_id = ${serverId} and status = 'started'
        order by id desc limit 1`
      return row
    },
  }
}
