import type { Database } from 'model-gateway/plugin'
import { MOST_COUNTED } from '../../_shared/counted-list.ts'
import { instantSql } from '../../_shared/instant.ts'
import { firstId } from '../../_shared/own-id.ts'
import type { Page, Rows } from '../../_shared/page.ts'
import type { Period } from '../../_shared/query.ts'
import type { DetailRow, InvocationRow } from './wire.ts'

/** Columns that a filter compares. */
export const filterColumns = [
  'request_id',
  'server_key',
  'tool_name',
  'api_key_id',
  'user_id',
  'team_id',
  'status',
  'policy_result',
] as const

export interface InvocationFilter extends Period {
  readonly columns: readonly (readonly [name: (typeof filterColumns)[number], value: string])[]
}

export interface ListStore {
  /** Newest first. `total` is at most one more than the counting limit. */
  list(filter: InvocationFilter, page: Page): Promise<Rows<InvocationRow>>
  read(id: string): Promise<DetailRow | undefined>
}

const columns = `i.id as mcp_tool_invocation_id, ${instantSql('i.occurred_at')} as occurred_at,
  i.request_id, i.jsonrpc_id, i.jsonrpc_id_type, i.session_hash, i.protocol_version, i.owner_kind,
  i.user_id, i.service_account_id, i.team_id, i.api_key_id, i.server_id, i.server_key, i.tool_id,
  i.tool_name, i.status, i.policy_result, i.latency_ms, i.error_code, i.guardrail_decision_id,
  i.response_bytes::float8 as response_bytes, i.argument_metadata, i.result_metadata,
  ${instantSql('i.finished_at')} as finished_at`

/**
 * One side of a payload. A truncated one is returned as its beginning, without the wrapper object.
 */
const side = (name: 'arguments' | 'result') => `coalesce(p.${name}_json -> 'body', p.${name}_json)`

type Column = InvocationFilter['columns'][number]

/**
 * Whether an index has rows with this value in order of their ids. Values of most rows are not
 * indexed.
 */
function isIndexed([name, value]: Column): boolean {
  if (name === 'status') return value !== 'success'
  return name !== 'policy_result' || value === 'denied'
}

export function createListStore({ sql, schema }: Database): ListStore {
  const invocations = `"${schema}".mcp_tool_invocations i`
  const payloads = `"${schema}".mcp_tool_invocation_payloads p`
  const hasPayload = `exists (select from ${payloads} where p.invocation_id = i.id) as has_payload`

  /** The matching ids, newest first, and whether the query merges several indexes. */
  function matchesOf({ columns: given, start, end }: InvocationFilter, most: number) {
    const values: (string | number)[] = []
    const put = (value: string | number) => `$${values.push(value)}`
    // Ids begin with the time.
    const time: string[] = []
    if (start !== undefined) time.push(`i.id >= ${put(firstId(start))}::text::uuid`)
    if (end !== undefined) time.push(`i.id < ${put(firstId(end))}::text::uuid`)
    const equals = ([name, value]: Column) => `i.${name} = ${put(value)}::text`
    const where = (conditions: readonly string[]) =>
      conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
    const ids = `order by i.id desc limit ${put(most)}::bigint`
    const [first, ...more] = given.filter(isIndexed)
    if (first === undefined || more.length === 0) {
      const conditions = [...time, ...given.map(equals)]
      return {
        text: `select i.id from ${invocations} ${where(conditions)} ${ids}`,
        values,
        merges: false,
      }
    }
    // Each set has its own order by, because otherwise the planner reads one set and filters its
    // rows.
    const set = (column: Column) =>
      `(select i.id from ${invocations} ${where([...time, equals(column)])} order by i.id desc)`
    const joins = more.map((column, n) => `join ${set(column)} s${n} using (id)`)
    const others = given
      .filter((column) => !isIndexed(column))
      .map(
        (column) => `exists (
          select from "${schema}".mcp_tool_invocations r
          where r.id = i.id and r.${column[0]} = ${put(column[1])}::text)`,
      )
    return {
      text: `select i.id from ${set(first)} i ${joins.join(' ')} ${where(others)} ${ids}`,
      values,
      merges: true,
    }
  }

  return {
    async list(filter, { offset, page_size }) {
      const { text, values, merges } = matchesOf(
        filter,
        Math.max(MOST_COUNTED + 1, offset + page_size),
      )
      return await sql.begin('isolation level repeatable read read only', async (reader) => {
        // Turn nested loops off: Postgres assumes that the values are independent and would look up
        // a row per index entry, but merging indexes is never slow.
        const lookUps = (state: 'on' | 'off') =>
          reader.unsafe(`select set_config('enable_nestloop', '${state}', true)`)
        if (merges) await lookUps('off')
        const [found] = await reader.unsafe<{ total: number; ids: readonly string[] }[]>(
          `with m as materialized (${text})
          select (select count(*)::int from m) as total, array(
            select m.id from m order by m.id desc
            limit $${values.length + 1}::bigint offset $${values.length + 2}::bigint)::text[] as ids`,
          [...values, page_size, offset],
        )
        if (merges) await lookUps('on')
        const rows = await reader.unsafe<InvocationRow[]>(
          `select ${columns}, ${hasPayload} from ${invocations}
          where i.id = any($1::text[]::uuid[]) order by i.id desc`,
          [(found?.ids ?? []) as string[]],
        )
        return { rows, total: found?.total ?? 0 }
      })
    },
    async read(id) {
      const [row] = await sql.unsafe<DetailRow[]>(
        `select ${columns}, p.invocation_id is not null as has_payload,
            case when p.invocation_id is not null then json_build_object(
              'arguments', ${side('arguments')}, 'arguments_truncated', coalesce(p.arguments_truncated, false),
              'result', ${side('result')}, 'result_truncated', coalesce(p.result_truncated, false)) end
            as payload
          from ${invocations} left join ${payloads} on p.invocation_id = i.id
          where i.id = $1::text::uuid`,
        [id],
      )
      return row
    },
  }
}
