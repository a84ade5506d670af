import { type Static, strictObject, Type } from 'model-gateway/plugin'
import { asView, Instant, nullable, oneOf } from '../_shared/schema.ts'
import { offering } from './access.ts'
import { Allowlist, ToolRule } from './config.ts'
import type { ListedTool, RunRow } from './discovery-store.ts'
import type { ServerRow } from './store.ts'
import type { ToolVersionRow } from './tool-version-store.ts'

const LINE = '^[^\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$'

/** Fields of a server that can be set at creation and changed later. */
const fields = {
  display_name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 120,
      pattern: LINE,
      errorMessage: 'must be 1 to 120 characters on one line',
    }),
  ),
  description: Type.Optional(
    Type.Union([Type.String({ maxLength: 2000 }), Type.Null()], {
      errorMessage: 'must be up to 2000 characters, or null',
    }),
  ),
  server_url: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2048,
      errorMessage: 'must be a URL of up to 2048 characters',
    }),
  ),
  auth_mode: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  auth_config: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: true,
        maxProperties: 16,
        description: 'Settings of the auth_mode; unknown members are rejected.',
        errorMessage: 'must be an object of up to 16 members',
      },
    ),
  ),
  timeout_ms: Type.Optional(
    Type.Integer({
      minimum: 1000,
      maximum: 120_000,
      description: 'Timeout until the response headers arrive. Default 30000.',
      errorMessage: 'must be a whole number from 1000 to 120000',
    }),
  ),
  allowlist: Type.Optional(nullable(Allowlist)),
  tools: Type.Optional(nullable(ToolRule)),
}

export const NewServer = strictObject({
  recommended_catalog_key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Omitted members are taken from this entry of the recommended servers.',
    }),
  ),
  server_key: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9_-]{3,64}$',
      description: 'Callers use it in /mcp/{server_key}. It cannot be changed.',
      errorMessage: 'must be 3 to 64 of a-z, 0-9, - and _',
    }),
  ),
  ...fields,
})

const ServerStatus = oneOf(['active', 'disabled'])
export const ServerChange = strictObject({ ...fields, status: Type.Optional(ServerStatus) })

const DiscoveryStatus = oneOf(['never', 'success', 'failed', 'auth_required', 'disabled'])
const RunStatus = oneOf(['success', 'failed', 'auth_required', 'disabled'])

export const ServerView = Type.Object({
  mcp_server_id: Type.String(),
  server_key: Type.String(),
  display_name: Type.String(),
  description: nullable(Type.String()),
  server_url: Type.String(),
  auth_mode: Type.String(),
  auth_config: Type.Record(Type.String(), Type.Unknown()),
  timeout_ms: Type.Integer(),
  allowlist: nullable(Allowlist),
  tools: nullable(ToolRule),
  status: ServerStatus,
  recommended_catalog_key: nullable(Type.String()),
  from_config: Type.Boolean({ description: 'Whether the config file declares the server.' }),
  allow_private: Type.Boolean({
    description: 'Whether the config file allows a private address for it.',
  }),
  secret_moved: nullable(
    Type.Object(
      { from: Type.String(), to: Type.String(), at: Instant },
      {
        description: 'Its URL was changed to another origin, which now receives the same secret.',
      },
    ),
  ),
  discovery_status: DiscoveryStatus,
  tool_count: Type.Integer({ description: 'Tools that the last successful discovery found.' }),
  last_error_summary: nullable(Type.String()),
  last_discovery_at: nullable(Instant),
  last_successful_discovery_at: nullable(Instant),
  protocol_version: nullable(Type.String()),
  disabled_at: nullable(Instant),
  created_at: Instant,
  updated_at: Instant,
})

/** The settings of a server: secret references only, no discovery data. */
export function stateOf(row: ServerRow) {
  return {
    server_key: row.server_key,
    display_name: row.display_name,
    description: row.description,
    server_url: row.server_url,
    auth_mode: row.auth_mode,
    auth_config: row.auth_config,
    timeout_ms: row.timeout_ms,
    allowlist: row.allowlist,
    tools: row.tools,
    status: row.status,
    recommended_catalog_key: row.recommended_catalog_key,
  }
}

export function serverView(row: ServerRow, privateUrl: boolean): Static<typeof ServerView> {
  return asView(ServerView, {
    ...row,
    mcp_server_id: row.id,
    from_config: row.config_hash !== null,
    allow_private: privateUrl,
  })
}

export const ToolView = Type.Object({
  mcp_tool_id: Type.String(),
  upstream_name: Type.String(),
  display_name: nullable(Type.String()),
  description: nullable(Type.String()),
  input_schema: Type.Record(Type.String(), Type.Unknown()),
  schema_hash: Type.String({
    description: 'Hash of the input schema in canonical form (RFC 8785).',
  }),
  schema_version: Type.Integer({ description: 'Increases by one with each change of the schema.' }),
  definition_hash: Type.String({
    description: 'Hash of name, description, annotations and schema.',
  }),
  is_active: Type.Boolean(),
  is_offered: Type.Boolean({
    description: 'Whether the tool rules of its server let callers see and call it.',
  }),
  first_discovered_at: Instant,
  last_discovered_at: Instant,
  version_count: Type.Integer({ description: 'Number of stored definitions of the tool.' }),
  last_changed_at: Type.String({
    format: 'date-time',
    description: 'When the current definition was first found.',
  }),
})

/** `rule`: that of the tool's server. */
export function toolView(row: ListedTool, rule: ToolRule | null): Static<typeof ToolView> {
  const is_offered = rule === null || offering(rule)(row.upstream_name)
  return asView(ToolView, { ...row, mcp_tool_id: row.id, is_offered })
}

export const ToolVersionView = Type.Object({
  tool_version_id: Type.String(),
  schema_version: Type.Integer(),
  display_name: nullable(Type.String()),
  description: nullable(Type.String()),
  annotations: nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        'Hints from the server such as readOnlyHint and destructiveHint. The gateway does not verify them.',
    }),
  ),
  input_schema: Type.Record(Type.String(), Type.Unknown()),
  schema_hash: Type.String(),
  definition_hash: Type.String(),
  discovered_at: Instant,
})

export function toolVersionView(row: ToolVersionRow): Static<typeof ToolVersionView> {
  return asView(ToolVersionView, { ...row, tool_version_id: row.id })
}

const Count = nullable(Type.Integer())

export const RunView = Type.Object({
  discovery_run_id: Type.String(),
  trigger: oneOf(['admin', 'schedule']),
  actor_user_id: nullable(Type.String()),
  request_id: nullable(Type.String()),
  status: RunStatus,
  error_summary: nullable(Type.String()),
  upstream_status: Count,
  protocol_version: nullable(Type.String()),
  tool_count: Count,
  added_count: Count,
  changed_count: Count,
  removed_count: Count,
  started_at: Instant,
  finished_at: Instant,
})

export function runView(row: RunRow): Static<typeof RunView> {
  return asView(RunView, { ...row, discovery_run_id: row.id })
}

export const RefreshView = Type.Object({
  server: ServerView,
  status: RunStatus,
  error_summary: nullable(Type.String()),
  tools: Type.Array(ToolView, { description: 'The active tools.' }),
})
