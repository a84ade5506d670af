import type { Database, JsonValue } from 'model-gateway/plugin'
import { firstId } from './first-id.ts'

/** With a filter, so many matches are counted: more are `total` or more. */
export const MOST_COUNTED = 10_000

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

export interface InvocationFilter {
  readonly columns: readonly (readonly [name: (typeof filterColumns)[number], value: string])[]
  /** In the filter. */
  readonly start: Date | undefined
  /** Not in it. */
  readonly end: Date | undefined
}

export interface InvocationItem {
  readonly [column: string]: JsonValue
}

export interface ListStore {
  /** The newest first. */
  list(
    filter: InvocationFilter,
    page: { readonly offset: number; readonly page_size: number },
  ): Promise<{ readonly items: readonly InvocationItem[]; readonly total: number }>
  read(id: string): Promise<InvocationItem | undefined>
}

const instant = (column: string) =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const columns = `i.id as mcp_tool_invocation_id, ${instant('i.occurred_at')} as occurred_at,
  i.request_id, i.jsonrpc_id, i.jsonrpc_id_type, i.session_hash, i.protocol_version, i.owner_kind,
  i.user_id, i.service_account_id, i.team_id, i.api_key_id, i.server_id, i.server_key, i.tool_id,
  i.tool_name, i.status, i.policy_result, i.latency_ms, i.error_code, i.guardrail_decision_id,
  i.response_bytes::float8 as response_bytes, i.argument_metadata, i.result_metadata,
  ${instant('i.finished_at')} as finished_at`

export function createListStore({ sql, schema }: Database): ListStore {
  const invocations = `"${schema}".mcp_tool_invocations i`
  const payloads = `"${schema}".mcp_tool_invocation_payloads p`
  const hasPayload = `exists (select from ${payloads} where p.invocation_id = i.id) as has_payload`

  return {
    async list(filter, { offset, page_size }) {
      const values: (string | number)[] = []
      const put = (value: string | number) => `$${values.push(value)}`
      const conditions = filter.columns.map(([name, value]) => `i.${name} = ${put(value)}::text`)
      // Ids begin with the time.
      const { start, end } = filter
      if (start !== undefined) conditions.push(`i.id >= ${put(firstId(start))}::text::uuid`)
      if (end !== undefined) conditions.push(`i.id < ${put(firstId(end))}::text::uuid`)
      const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
      const [count] = await sql.unsafe<{ total: number }[]>(
        `select count(*)::int as total
          from (select from ${invocations} ${where} limit ${MOST_COUNTED + 1}) c`,
        values,
      )
      const limits = `limit ${put(page_size)}::bigint offset ${put(offset)}::bigint`
      const items = await sql.unsafe<InvocationItem[]>(
        `select ${columns}, ${hasPayload} from ${invocations} ${where} order by i.id desc ${limits}`,
        values,
      )
      return { items, total: count?.total ?? 0 }
    },
    async read(id) {
      const [row] = await sql.unsafe<InvocationItem[]>(
        `select ${columns}, p.invocation_id is not null as has_payload,
            case when p.invocation_id is not null then json_build_object(
              'arguments', p.arguments_json -> 'body', 'arguments_truncated', coalesce(p.arguments_truncated, false),
              'result', p.result_json -> 'body', 'result_truncated', coalesce(p.result_truncated, false)) end
            as payload
          from ${invocations} left join ${payloads} on p.invocation_id = i.id
          where i.id = $1::text::uuid`,
        [id],
      )
      return row
    },
  }
}
