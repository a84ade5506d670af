import { configSection, type Static, Type } from 'model-gateway/plugin'

const strict = { additionalProperties: false }

/** The default auth mode of a server. */
export const DEFAULT_AUTH_MODE = 'none'
export const DEFAULT_TIMEOUT_MS = 30_000

const names = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 320 }), { maxItems: 1000, description })

/** Who may use a server: owners in any of the lists. */
export const Allowlist = Type.Object(
  {
    users: Type.Optional(names('E-mail addresses of users')),
    teams: Type.Optional(
      names('Keys of teams; allows their users, but not their service accounts'),
    ),
    service_accounts: Type.Optional(names('Keys of service accounts')),
  },
  { ...strict, description: 'Owners whose keys may use the server. Default: every owner' },
)
export type Allowlist = Static<typeof Allowlist>

/** Tools of a server that callers see and may call, by the server's names. */
export const ToolRule = Type.Object(
  {
    allow: Type.Optional(names('Allow only these tools')),
    deny: Type.Optional(names('Deny these tools, even if they are in allow')),
  },
  { ...strict, description: 'Tools that callers see and may call. Default: every tool' },
)
export type ToolRule = Static<typeof ToolRule>

const DeclaredServer = Type.Object(
  {
    server_key: Type.String({
      pattern: '^[a-z0-9_-]{3,64}$',
      description: '3 to 64 of a-z, 0-9, - and _; callers use it in /mcp/{server_key}',
    }),
    display_name: Type.String({ minLength: 1, maxLength: 120, description: 'Display name' }),
    description: Type.Optional(Type.String({ maxLength: 2000, description: 'Description' })),
    server_url: Type.String({ minLength: 1, maxLength: 2048, description: 'URL of the server' }),
    auth_mode: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: `How the gateway authenticates to the server: an auth mode of a loaded plugin. Default ${DEFAULT_AUTH_MODE}`,
      }),
    ),
    auth_config: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'Settings of the auth mode' }),
    ),
    timeout_ms: Type.Optional(
      Type.Integer({
        minimum: 1000,
        maximum: 120_000,
        description: `Timeout until the response headers arrive. Default ${DEFAULT_TIMEOUT_MS}`,
      }),
    ),
    allowlist: Type.Optional(Allowlist),
    tools: Type.Optional(ToolRule),
    allow_private: Type.Boolean({
      default: false,
      description: 'Allow a private or loopback address for this server',
    }),
  },
  strict,
)
export type DeclaredServer = Static<typeof DeclaredServer>

export const mcp = configSection(
  'mcp',
  Type.Object(
    {
      servers: Type.Array(DeclaredServer, {
        default: [],
        description: 'MCP servers that the config declares',
      }),
      allow_private_networks: Type.Boolean({
        default: false,
        description: 'Allow private and loopback addresses for registered servers',
      }),
      allowed_cidrs: Type.Array(Type.String(), {
        default: [],
        description: 'Private address ranges that registered servers may use, such as 10.2.0.0/16',
      }),
      allowed_origins: Type.Array(Type.String(), {
        default: [],
        description: 'Origins of web pages that may call /mcp, such as https://app.example.com',
      }),
      discovery_schedule: Type.String({
        default: 'off',
        description:
          'Schedule for the discovery of tools of all servers: off, or five cron fields in UTC',
      }),
      audit_retention: Type.String({
        pattern: '^[1-9][0-9]{0,3}d$',
        default: '90d',
        description: 'Retention of tool calls and discovery records: a number of days, such as 90d',
      }),
    },
    { ...strict, default: {} },
  ),
)
export type McpSettings = Static<(typeof mcp)['schema']>
