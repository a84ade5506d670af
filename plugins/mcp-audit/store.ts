import type { McpPolicyResult, McpVerdict } from 'model-gateway/mcp'
import type { Database } from 'model-gateway/plugin'
import { arrayOf, columnNames } from '../_shared/batch-row.ts'
import { idColumn, numberKey, type RowId, type WrittenRow } from './rows.ts'

/** A row that is still open. */
export interface FoundRow {
  readonly id: string
  readonly occurredAt: Date
  readonly verdict: McpVerdict | undefined
}

export interface Store {
  /** Inserts and closes rows, and adds payloads and overheads. Idempotent. */
  write(rows: readonly WrittenRow[], leaseMs: number): Promise<void>
  /** Extends the lease of these rows. */
  hold(ids: readonly string[], leaseMs: number): Promise<void>
  /** Closes rows whose lease is over; returns their servers. */
  sweep(): Promise<readonly { readonly serverId: string }[]>
  find(
    session: { readonly serverId: string; readonly hash: string },
    id: RowId,
  ): Promise<FoundRow | undefined>
}

const openColumns = `id uuid, occurred_at timestamptz, request_id text, jsonrpc_id text,
  jsonrpc_id_type text, session_hash text, protocol_version text, owner_kind text, user_id text,
  service_account_id text, team_id text, api_key_id text, server_id text, server_key text,
  tool_id text, tool_name text, argument_metadata jsonb`
const closeColumns = `policy_result text, latency_ms integer, error_code text,
  guardrail_decision_id text, response_bytes bigint, result_metadata jsonb,
  finished_at timestamptz`
const payloadColumns = `arguments json, arguments_truncated boolean, result json,
  result_truncated boolean`
const overheadColumns = 'tool_count integer, token_count bigint'

/** Columns of the verdicts of guards. */
const verdict = ['policy_result', 'guardrail_decision_id']

/**
 * Merges the verdicts of several sources; the latest wins, but a denial outweighs the rest. The
 * source that closes a row may not know the verdict, and the sources may write in any order or at
 * the same time.
 */
function verdictFrom(sources: readonly string[]) {
  const all = (write: (source: string) => string) => sources.map(write).join(', ')
  const result = (s: string) => `${s}.policy_result`
  const decision = (s: string) => `${s}.guardrail_decision_id`
  const denied = `'denied' in (${all(result)})`
  return {
    result: `case when ${denied} then 'denied'
      else coalesce(${all((s) => `nullif(${result(s)}, 'not_evaluated')`)}, 'not_evaluated') end`,
    decision: `case when ${denied}
      then coalesce(${all((s) => `case ${result(s)} when 'denied' then ${decision(s)} end`)})
      else coalesce(${all(decision)}) end`,
  }
}

function writeStatement(schema: string): string {
  const invocations = `"${schema}".mcp_tool_invocations`
  const opened = columnNames(openColumns)
  const closed = ['status', ...columnNames(closeColumns)]
  // A known outcome replaces `incomplete`, but only once.
  const takes = (source: string) =>
    `(${source}.status <> 'started' and t.status in ('started', 'incomplete'))`
  const from = (source: string) =>
    closed
      .filter((name) => !verdict.includes(name))
      .map(
        (name) => `${name} = case when ${takes(source)} then ${source}.${name} else t.${name} end`,
      )
      .join(', ')
  const judged = (...sources: string[]) => {
    const { result, decision } = verdictFrom(sources)
    return `policy_result = ${result}, guardrail_decision_id = ${decision}`
  }
  const made = verdictFrom(['c', 'l', 'i'])
  const knows = (source: string) => `${source}.policy_result in ('allowed', 'denied')`
  const isNew = (row: string) =>
    `exists (select from input o where o.kind = 'open' and o.id = ${row}.id)`
  // A short call is opened and closed by one row. A row that is new in this batch is inserted in
  // its final state, because parts of a statement do not see each other's rows. Of two closings of
  // a row, one with a verdict wins, else the later one.
  return `
    with input as materialized (
      select * from rows from (json_to_recordset($1::text::json) as (kind text, ${openColumns},
        status text, ${closeColumns}, held_until timestamptz, ${overheadColumns},
        ${payloadColumns})) with ordinality
    ), closes as (
      select distinct on (id) * from input where kind = 'close'
      order by id, policy_result desc nulls last, ordinality desc
    ), leaves as (
      select distinct on (id) * from input where kind = 'leave'
    ), opened as (
      insert into ${invocations} as t (${opened}, ${closed}, held_until)
      select distinct on (i.id) ${opened.map((name) => `i.${name}`)},
        coalesce(i.status, c.status, 'started'), ${made.result}, ${closed
          .slice(2)
          .map((name) =>
            name === 'guardrail_decision_id' ? made.decision : `coalesce(i.${name}, c.${name})`,
          )},
        coalesce(l.held_until, now() + $2::float8 * interval '1 ms')
      from input i left join closes c on c.id = i.id left join leaves l on l.id = i.id
      where i.kind = 'open'
      on conflict (id) do update set ${from('excluded')}, ${judged('t', 'excluded')}
        where ${takes('excluded')} or ${knows('excluded')}
    ), closed as (
      update ${invocations} t set ${from('c')}, ${judged('c', 't')}
      from closes c where t.id = c.id and (${takes('c')} or ${knows('c')}) and not ${isNew('c')}
    ), left_open as (
      update ${invocations} t set ${judged('t', 'l')},
        held_until = case when t.status = 'started' then l.held_until else t.held_until end
      from leaves l where t.id = l.id and (t.status = 'started' or ${knows('l')})
        and not ${isNew('l')} and not exists (select from closes c where c.id = l.id)
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
    from input where arguments is not null or result is not null
    group by id
    on conflict (invocation_id) do update set
      arguments_json = coalesce(p.arguments_json, excluded.arguments_json),
      arguments_truncated = coalesce(p.arguments_truncated, excluded.arguments_truncated),
      result_json = coalesce(p.result_json, excluded.result_json),
      result_truncated = coalesce(p.result_truncated, excluded.result_truncated)`
}

interface Judged {
  readonly policyResult: McpPolicyResult
  readonly decisionId: string | null
}

function verdictOf({ policyResult, decisionId }: Judged): McpVerdict | undefined {
  if (policyResult === 'not_evaluated') return undefined
  return { policyResult, ...(decisionId !== null && { guardrailDecisionId: decisionId }) }
}

export function createStore({ sql, schema }: Database): Store {
  const statement = writeStatement(schema)
  const invocations = sql(`${schema}.mcp_tool_invocations`)
  return {
    async write(rows, leaseMs) {
      await sql.unsafe(statement, [arrayOf(rows), leaseMs], { prepare: true })
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
    async find({ serverId, hash }, { key, type }) {
      const written = idColumn(key)
      // The stored number may be written in another way, such as 1.0 or 1e0.
      const other = type === 'number' ? sql`or jsonrpc_id ~ '[.eE]'` : sql``
      const rows = await sql<(Omit<FoundRow, 'verdict'> & Judged & { rpcId: string })[]>`
        select id, occurred_at as "occurredAt", jsonrpc_id as "rpcId",
          policy_result as "policyResult", guardrail_decision_id as "decisionId"
        from ${invocations}
        where session_hash = ${hash} and jsonrpc_id_type = ${type} and server_id = ${serverId}
          and status = 'started' and (jsonrpc_id = ${written} ${other})
        order by id desc`
      const found = rows.find(({ rpcId }) => type === 'string' || numberKey(rpcId) === written)
      return found && { ...found, verdict: verdictOf(found) }
    },
  }
}
