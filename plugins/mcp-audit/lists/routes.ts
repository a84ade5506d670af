import {
  type AdminRoute,
  adminRoute,
  type Directory,
  GatewayError,
  listOf,
  pageQuery,
  type Static,
  strictObject,
  Type,
} from 'model-gateway/plugin'
import { countedMembers, countedPage, countedTotal } from '../../_shared/counted-list.ts'
import { Id, ownId } from '../../_shared/own-id.ts'
import { filterText, periodQuery, readPeriod } from '../../_shared/query.ts'
import { Instant, nullable, oneOf, Text } from '../../_shared/schema.ts'
import { filterColumns, type InvocationFilter, type ListStore } from './store.ts'

const ROOT = '/api/v1/admin/observability/mcp-invocations'
const tag = 'observability'

const statuses = [
  'started',
  'success',
  'tool_error',
  'unauthorized',
  'policy_denied',
  'upstream_error',
  'gateway_error',
  'timeout',
  'cancelled',
  'incomplete',
  'invalid_request',
] as const
const policyResults = ['allowed', 'denied', 'not_evaluated'] as const

const filterQuery = {
  request_id: filterText("The caller's or the gateway's id of a request.", 128),
  server_key: filterText('The server that was called.', 64),
  tool_name: filterText('The tool, as its server names it.', 256),
  api_key_id: filterText('The key that the call came with.', 64),
  user_id: filterText('The user who called.', 64),
  team_id: filterText("The caller's team.", 64),
  status: Type.Optional(oneOf(statuses)),
  policy_result: Type.Optional(oneOf(policyResults)),
  ...periodQuery,
}
const Query = strictObject({ ...pageQuery, ...filterQuery })

const members = {
  mcp_tool_invocation_id: Text,
  occurred_at: Type.String({ format: 'date-time', description: 'When the call was made.' }),
  request_id: Text,
  jsonrpc_id: nullable(Type.String({ description: 'As the caller chose it.' })),
  jsonrpc_id_type: nullable(oneOf(['string', 'number'])),
  session_hash: nullable(Type.String({ description: 'SHA-256 of the session id.' })),
  protocol_version: nullable(Text),
  owner_kind: oneOf(['user', 'service_account']),
  user_id: nullable(Text),
  service_account_id: nullable(Text),
  owner_name: nullable(Type.String({ description: 'null: the owner is gone' })),
  team_id: nullable(Text),
  api_key_id: Text,
  server_id: nullable(Text),
  server_key: Text,
  tool_id: nullable(Type.String({ description: 'null: discovery has not seen the tool' })),
  tool_name: Text,
  status: oneOf(statuses),
  policy_result: oneOf(policyResults),
  latency_ms: nullable(Type.Integer()),
  error_code: nullable(Text),
  guardrail_decision_id: nullable(Text),
  response_bytes: nullable(Type.Integer()),
  argument_metadata: Type.Unknown({ description: 'The names of the arguments.' }),
  result_metadata: Type.Unknown({ description: 'The kinds of content; null: no result was seen.' }),
  finished_at: nullable(Instant),
  has_payload: Type.Boolean(),
}
const Item = Type.Object(members)
const Detail = Type.Object({
  ...members,
  payload: nullable(
    Type.Object(
      {
        arguments: Type.Unknown(),
        arguments_truncated: Type.Boolean(),
        result: Type.Unknown(),
        result_truncated: Type.Boolean(),
      },
      { description: 'Sanitised and bounded; null: none is kept' },
    ),
  ),
})

type Owned = Pick<Static<typeof Item>, 'user_id' | 'service_account_id'>

/** The list of tool calls, and one of them. `directory` knows what owners are called. */
export function invocationRoutes(
  store: ListStore,
  directory: () => Promise<Directory>,
): AdminRoute[] {
  const page = listOf(Item)

  async function named<T>(rows: readonly T[]): Promise<(T & { owner_name: string | null })[]> {
    const { users, serviceAccounts } = await directory()
    const names = new Map([...users, ...serviceAccounts].map(({ id, name }) => [id, name]))
    return rows.map((row) => {
      const { user_id, service_account_id } = row as Owned
      return { ...row, owner_name: names.get(user_id ?? service_account_id ?? '') ?? null }
    })
  }
  return [
    adminRoute({
      method: 'GET',
      path: ROOT,
      audience: 'platform_admin',
      tag,
      summary: 'Tool calls through the MCP proxy, newest first.',
      query: Query,
      result: Type.Object({
        ...page.properties,
        ...countedMembers,
      }),
      async handle({ query }) {
        const { offset, ...wire } = countedPage(query)
        const { items, total } = await store.list(readFilter(query), { ...wire, offset })
        return {
          items: (await named(items)) as unknown as Static<typeof Item>[],
          ...wire,
          ...countedTotal(total),
        }
      },
    }),
    adminRoute({
      method: 'GET',
      path: `${ROOT}/{mcp_tool_invocation_id}`,
      audience: 'platform_admin',
      tag,
      summary: 'One tool call, with its sanitised arguments and result.',
      params: Type.Object({ mcp_tool_invocation_id: Id }),
      result: Detail,
      async handle({ params }) {
        const row = await store.read(params.mcp_tool_invocation_id)
        if (row === undefined) {
          throw new GatewayError('not_found', 'there is no tool call with this id')
        }
        const [detail] = await named([row])
        return detail as unknown as Static<typeof Detail>
      },
    }),
  ]
}

/** Throws `invalid_request` naming the parameter. */
function readFilter(query: Static<typeof Query>): InvocationFilter {
  return {
    columns: filterColumns.flatMap((name) => {
      const value = query[name]
      if (value === undefined) return []
      const isId = name === 'api_key_id' || name === 'user_id' || name === 'team_id'
      return [[name, isId ? ownId(value) : value] as const]
    }),
    ...readPeriod(query),
  }
}
