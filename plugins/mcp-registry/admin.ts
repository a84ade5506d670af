import { type AdminRoute, adminRoute, listOf, pageQuery } from 'model-gateway/admin'
import type { AddressPolicy } from 'model-gateway/http'
import { GatewayError, type Static, strictObject, Type } from 'model-gateway/plugin'
import { Id } from '../_shared/own-id.ts'
import { type Page, readPage } from '../_shared/page.ts'
import type { ServerChanges } from './change-servers.ts'
import { summaryOf } from './discovery/outcome.ts'
import type { DiscoveryStore } from './discovery-store.ts'
import { RecommendedServer, recommendedServers } from './recommended.ts'
import type { Refresher } from './refresh.ts'
import { addressesOf } from './snapshot.ts'
import { findServer, type ServerRow, type ServerStore } from './store.ts'
import type { ToolVersionStore } from './tool-version-store.ts'
import {
  NewServer,
  RefreshView,
  RunView,
  runView,
  ServerChange,
  ServerView,
  serverView,
  ToolVersionView,
  ToolView,
  toolVersionView,
  toolView,
} from './wire.ts'

export interface AdminParts {
  readonly servers: ServerStore
  readonly discovery: DiscoveryStore
  readonly versions: ToolVersionStore
  readonly changes: ServerChanges
  readonly refresher: Refresher
  readonly policy: () => AddressPolicy
}

const admin = { audience: 'platform_admin', tag: 'MCP servers' } as const
const params = Type.Object({ server_id: Id })
const one = Type.Object({ server: ServerView })
const ROOT = '/api/v1/admin/mcp'
/** More tools than any discovery keeps. */
const ALL_TOOLS = { offset: 0, page_size: 1_000_000 }

/** `/api/v1/admin/mcp/…` */
export function mcpRoutes(parts: AdminParts): AdminRoute[] {
  const { servers, discovery, versions, changes, refresher, policy } = parts

  function view(row: ServerRow): Static<typeof ServerView> {
    return serverView(row, addressesOf(row, policy()).allowPrivate && row.allow_private)
  }

  return [
    adminRoute({
      ...admin,
      method: 'GET',
      path: `${ROOT}/recommended-servers`,
      summary: 'List well-known public servers, as suggestions for new servers.',
      result: Type.Object({ items: Type.Array(RecommendedServer) }),
      handle: () => ({ items: [...recommendedServers] }),
    }),
    adminRoute({
      ...admin,
      method: 'GET',
      path: `${ROOT}/servers`,
      summary: 'List registered servers, by key.',
      query: strictObject({
        ...pageQuery,
        include_disabled: Type.Optional(Type.Boolean({ description: 'Default false.' })),
      }),
      result: listOf(ServerView),
      handle: ({ query }) => {
        const filter = { includeDisabled: query.include_disabled === true }
        return readPage(query, (page) => servers.list(filter, page), view)
      },
    }),
    adminRoute({
      ...admin,
      method: 'GET',
      path: `${ROOT}/servers/{server_id}`,
      summary: 'Get one server.',
      params,
      result: one,
      handle: async ({ params: { server_id } }) => ({
        server: view(await findServer(servers, server_id)),
      }),
    }),
    adminRoute({
      ...admin,
      method: 'POST',
      path: `${ROOT}/servers`,
      summary: 'Register a server, with or without a suggestion as a starting point.',
      body: NewServer,
      status: 201,
      result: one,
      errors: ['not_found', 'conflict'],
      handle: async ({ body, ...by }) => ({ server: view(await changes.create(by, body)) }),
    }),
    adminRoute({
      ...admin,
      method: 'PATCH',
      path: `${ROOT}/servers/{server_id}`,
      summary: 'Change a server. Its key never changes.',
      params,
      body: ServerChange,
      result: one,
      errors: ['conflict'],
      handle: async ({ params: { server_id }, body, ...by }) => ({
        server: view(await changes.update(by, server_id, body)),
      }),
    }),
    ...(['disable', 'enable'] as const).map((verb) =>
      adminRoute({
        ...admin,
        method: 'POST',
        path: `${ROOT}/servers/{server_id}/${verb}`,
        summary:
          verb === 'disable'
            ? 'Disable a server: callers cannot use it. Its tools and history are kept.'
            : 'Enable a server again.',
        params,
        result: one,
        handle: async ({ params: { server_id }, ...by }) => ({
          server: view(
            await changes.setStatus(by, server_id, verb === 'disable' ? 'disabled' : 'active'),
          ),
        }),
      }),
    ),
    adminRoute({
      ...admin,
      method: 'GET',
      path: `${ROOT}/servers/{server_id}/tools`,
      summary: 'List the discovered tools of a server, by name.',
      params,
      query: strictObject({
        ...pageQuery,
        include_inactive: Type.Optional(
          Type.Boolean({
            description: 'Include tools that the server no longer has. Default false.',
          }),
        ),
      }),
      result: listOf(ToolView),
      async handle({ params: { server_id }, query }) {
        const { id, tools } = await findServer(servers, server_id)
        const filter = { includeInactive: query.include_inactive === true }
        return await readPage(
          query,
          (page) => discovery.listTools(id, filter, page),
          (tool) => toolView(tool, tools),
        )
      },
    }),
    adminRoute({
      ...admin,
      method: 'GET',
      path: `${ROOT}/servers/{server_id}/tools/{tool_id}/versions`,
      summary: 'List past definitions of a tool, newest first. The last fifty are kept.',
      params: Type.Object({ server_id: Id, tool_id: Id }),
      query: strictObject(pageQuery),
      result: listOf(ToolVersionView),
      async handle({ params: { server_id, tool_id }, query }) {
        const read = async (page: Page) => {
          const found = await versions.list(server_id, tool_id, page)
          if (found !== undefined) return found
          throw new GatewayError('not_found', 'no tool of this MCP server has this id')
        }
        return await readPage(query, read, toolVersionView)
      },
    }),
    adminRoute({
      ...admin,
      method: 'POST',
      path: `${ROOT}/servers/{server_id}/discovery-refresh`,
      summary: 'Discover the tools of a server again. A failed discovery is also a 200 response.',
      params,
      result: RefreshView,
      errors: ['conflict'],
      async handle({ params: { server_id }, ...by }) {
        const outcome = await refresher.refresh(server_id, by)
        const row = await findServer(servers, server_id)
        const { rows } = await discovery.listTools(row.id, { includeInactive: false }, ALL_TOOLS)
        return {
          server: view(row),
          status: outcome.status,
          error_summary: summaryOf(outcome),
          tools: rows.map((tool) => toolView(tool, row.tools)),
        }
      },
    }),
    adminRoute({
      ...admin,
      method: 'GET',
      path: `${ROOT}/servers/{server_id}/discovery-runs`,
      summary: 'List the results of the discoveries of a server, newest first.',
      params,
      query: strictObject(pageQuery),
      result: listOf(RunView),
      async handle({ params: { server_id }, query }) {
        const { id } = await findServer(servers, server_id)
        return await readPage(query, (page) => discovery.listRuns(id, page), runView)
      },
    }),
  ]
}
