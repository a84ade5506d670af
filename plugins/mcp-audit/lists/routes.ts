import { type AdminRoute, adminRoute, pageQuery } from 'model-gateway/admin'
import type { Directory } from 'model-gateway/identity'
import { GatewayError, type Static, strictObject, Type } from 'model-gateway/plugin'
import { countedListOf, readCountedPage } from '../../_shared/counted-list.ts'
import type { Note } from '../../_shared/note.ts'
import { Id, ownId } from '../../_shared/own-id.ts'
import { filterText, periodQuery, readPeriod } from '../../_shared/query.ts'
import { oneOf } from '../../_shared/schema.ts'
import { filterColumns, type InvocationFilter, type ListStore } from './store.ts'
import { Detail, type InvocationRow, Item, policyResults, statuses } from './wire.ts'

const ROOT = '/api/v1/admin/observability/mcp-invocations'
const tag = 'observability'

const filterQuery = {
  request_id: filterText('Request id from the caller or the gateway.', 128),
  server_key: filterText('Key of the called server.', 64),
  tool_name: filterText('Tool name on its server.', 256),
  api_key_id: filterText('API key of the call.', 64),
  user_id: filterText('User who made the call.', 64),
  team_id: filterText('Team of the caller.', 64),
  status: Type.Optional(oneOf(statuses)),
  policy_result: Type.Optional(oneOf(policyResults)),
  ...periodQuery,
}
const Query = strictObject({ ...pageQuery, ...filterQuery })

/** Routes for the list of tool calls and for one call. `directory` has the names of owners. */
export function invocationRoutes(
  store: ListStore,
  directory: () => Promise<Directory>,
  note: Note,
): AdminRoute[] {
  async function namer() {
    const { users, serviceAccounts } = await directory()
    const names = new Map([...users, ...serviceAccounts].map(({ id, name }) => [id, name]))
    return <Row extends InvocationRow>(row: Row) => ({
      ...row,
      owner_name: names.get(row.user_id ?? row.service_account_id ?? '') ?? null,
    })
  }

  return [
    adminRoute({
      method: 'GET',
      path: ROOT,
      audience: 'platform_admin',
      tag,
      summary: 'List tool calls through the MCP proxy, newest first.',
      query: Query,
      result: countedListOf(Item),
      async handle({ query }) {
        const filter = readFilter(query)
        return await readCountedPage(query, (page) => store.list(filter, page), await namer())
      },
    }),
    adminRoute({
      method: 'GET',
      path: `${ROOT}/{mcp_tool_invocation_id}`,
      audience: 'platform_admin',
      tag,
      summary: 'Get one tool call, with its sanitised arguments and result.',
      params: Type.Object({ mcp_tool_invocation_id: Id }),
      result: Detail,
      async handle({ params: { mcp_tool_invocation_id: id }, caller, requestId }) {
        const row = await store.read(id)
        if (row === undefined) {
          throw new GatewayError('not_found', 'no tool call has this id')
        }
        if (row.payload !== null) {
          const about = { objectKind: 'mcp_invocation', objectId: ownId(id) }
          note({ actor: caller, requestId, action: 'mcp_invocation.payload_read', ...about })
        }
        return (await namer())(row)
      },
    }),
  ]
}

/** Throws `invalid_request` with the name of the parameter. */
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
