import type { AuditTrail } from 'model-gateway/admin'
import { type Database, GatewayError, type JsonObject } from 'model-gateway/plugin'
import type { Page, Rows } from '../_shared/page.ts'
import type { Allowlist, ToolRule } from './config.ts'
import type { SeedPlan } from './seed.ts'

/** Notification channel for committed changes that affect calls. */
export const CHANGED = 'mcp_registry_changed'

export type Transaction = Parameters<AuditTrail['write']>[0]

export type DiscoveryStatus = 'never' | 'success' | 'failed' | 'auth_required' | 'disabled'

/** When the server's URL was changed to another origin, with the same secret. */
export type SecretMove = { readonly from: string; readonly to: string; readonly at: string }

export interface ServerRow {
  readonly id: string
  readonly server_key: string
  readonly display_name: string
  readonly description: string | null
  readonly server_url: string
  readonly auth_mode: string
  readonly auth_config: JsonObject
  readonly timeout_ms: number
  readonly allowlist: Allowlist | null
  readonly tools: ToolRule | null
  readonly status: 'active' | 'disabled'
  readonly recommended_catalog_key: string | null
  readonly allow_private: boolean
  readonly secret_moved: SecretMove | null
  readonly version: number
  readonly discovery_status: DiscoveryStatus
  readonly tool_count: number
  readonly last_error_summary: string | null
  readonly last_discovery_at: Date | null
  readonly last_successful_discovery_at: Date | null
  readonly protocol_version: string | null
  readonly config_hash: string | null
  readonly admin_fields: readonly string[]
  readonly disabled_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** Columns that can be declared. */
export type ServerColumns = Pick<
  ServerRow,
  | 'display_name'
  | 'description'
  | 'server_url'
  | 'auth_mode'
  | 'auth_config'
  | 'timeout_ms'
  | 'allowlist'
  | 'tools'
  | 'status'
>

/** The columns of a server that calls need; disabled servers are not read. */
export type CallableRow = Pick<
  ServerRow,
  | 'id'
  | 'server_key'
  | 'display_name'
  | 'server_url'
  | 'auth_mode'
  | 'auth_config'
  | 'timeout_ms'
  | 'allowlist'
  | 'tools'
  | 'recommended_catalog_key'
  | 'allow_private'
  | 'admin_fields'
> & {
  /** Ids of the active tools by upstream name. */
  readonly tool_ids: Readonly<Record<string, string>> | null
}

export interface ServerStore {
  readRevision(): Promise<bigint>
  /** One statement, so one state. */
  readCallable(): Promise<{ readonly revision: bigint; readonly rows: readonly CallableRow[] }>
  list(filter: { readonly includeDisabled: boolean }, page: Page): Promise<Rows<ServerRow>>
  find(id: string, tx?: Transaction): Promise<ServerRow | undefined>
  /** `fields`: the fields that the config file cannot change any more. */
  insert(
    tx: Transaction,
    server: ServerColumns & Pick<ServerRow, 'id' | 'server_key' | 'recommended_catalog_key'>,
    fields: readonly string[],
  ): Promise<void>
  /**
   * Also invalidates a running discovery if it depends on a changed column. A server that becomes
   * active shows the outcome of its last discovery while active.
   */
  update(
    tx: Transaction,
    before: ServerRow,
    columns: Partial<ServerColumns> & { readonly secret_moved?: SecretMove | null },
    fields: readonly string[],
  ): Promise<void>
  /** Ids of the active servers. */
  listActive(): Promise<readonly string[]>
  /**
   * Reads, plans and writes under the lock of the registry, and calls `updated` for each change in
   * the same transaction. Writes nothing if nothing changed.
   */
  seed(
    plan: (existing: readonly ServerRow[]) => SeedPlan,
    updated: (tx: Transaction, update: SeedPlan['updates'][number]) => Promise<void>,
  ): Promise<SeedPlan>
}

/** Throws `not_found` for an unknown server. */
export async function findServer(
  store: Pick<ServerStore, 'find'>,
  id: string,
  tx?: Transaction,
): Promise<ServerRow> {
  const row = await store.find(id, tx)
  if (row === undefined) {
    throw new GatewayError('not_found', 'no MCP server has this id')
  }
  return row
}

/** Every writer locks this row first, so that what it reads stays true while it writes. */
export async function lockRegistry(tx: Transaction): Promise<void> {
  await tx`select from mcp_registry.revision for update`
}

/** JSON columns are written as text with a cast, because the driver would store a JSON string. */
const JSON_COLUMNS = ['auth_config', 'secret_moved', 'allowlist', 'tools'] as const

/** `, name = value` for each stated JSON column. */
function jsonAssignments(tx: Transaction, columns: Partial<ServerRow>) {
  return JSON_COLUMNS.reduce((assignments, name) => {
    const value = columns[name]
    if (value === undefined) return assignments
    const text = value === null ? null : JSON.stringify(value)
    return tx`${assignments}, ${tx(name)} = ${text}::text::jsonb`
  }, tx``)
}

function plainColumns(columns: Partial<ServerRow>) {
  const plain = { ...columns }
  for (const name of JSON_COLUMNS) delete (plain as Record<string, unknown>)[name]
  return plain as Record<string, string>
}

/** Columns that a discovery depends on, including `allow_private`, which changes with the URL. */
const reaching = [
  'server_url',
  'auth_mode',
  'auth_config',
  'timeout_ms',
  'status',
  'allow_private',
] as const

function outdates(before: ServerRow, columns: Partial<ServerRow>): boolean {
  return reaching.some(
    (name) => columns[name] !== undefined && !Bun.deepEquals(columns[name], before[name]),
  )
}

export function createServerStore({ sql }: Database): ServerStore {
  async function write(
    tx: Transaction,
    before: ServerRow,
    columns: Partial<ServerRow>,
    extra = tx``,
  ): Promise<void> {
    await tx`
      update mcp_registry.external_mcp_servers
      set ${tx(plainColumns({ ...columns, updated_at: new Date() }))}
        ${outdates(before, columns) ? tx`, version = version + 1` : tx``}
        ${jsonAssignments(tx, columns)}
        ${extra}
      where id = ${before.id}`
  }

  async function insert(tx: Transaction, columns: Partial<ServerRow>): Promise<void> {
    await tx`insert into mcp_registry.external_mcp_servers ${tx(plainColumns(columns))}`
    await tx`
      update mcp_registry.external_mcp_servers
      set updated_at = updated_at ${jsonAssignments(tx, columns)}
      where id = ${columns.id as string}`
  }

  return {
    async readRevision() {
      const [row] = await sql<{ value: bigint }[]>`select value from mcp_registry.revision`
      if (row === undefined) throw new Error('the table mcp_registry.revision is empty')
      return row.value
    },
    async readCallable() {
      const rows = await sql<(CallableRow & { id: string | null; revision: bigint })[]>`
        select r.value as revision, s.id, s.server_key, s.display_name, s.server_url, s.auth_mode,
          s.auth_config, s.timeout_ms, s.allowlist, s.tools, s.recommended_catalog_key, s.allow_private, s.admin_fields,
          (select json_object_agg(t.upstream_name, t.id) from mcp_registry.external_mcp_tools t
            where t.server_id = s.id and t.is_active) as tool_ids
        from mcp_registry.revision r
          left join mcp_registry.external_mcp_servers s on s.status = 'active'`
      const [first] = rows
      if (first === undefined) throw new Error('the table mcp_registry.revision is empty')
      return { revision: first.revision, rows: rows.filter(({ id }) => id !== null) }
    },
    async list({ includeDisabled }, { offset, page_size }) {
      const where = includeDisabled ? sql`` : sql`where status = 'active'`
      const [count] = await sql<{ total: bigint }[]>`
        select count(*) as total from mcp_registry.external_mcp_servers ${where}`
      const rows = await sql<ServerRow[]>`
        select * from mcp_registry.external_mcp_servers ${where}
        order by server_key limit ${page_size} offset ${offset}`
      return { rows, total: Number(count?.total ?? 0) }
    },
    async find(id, tx) {
      const [row] = await (tx ?? sql)<ServerRow[]>`
        select * from mcp_registry.external_mcp_servers where id = ${id}`
      return row
    },
    async insert(tx, server, fields) {
      await insert(tx, { ...server, admin_fields: fields })
    },
    async update(tx, before, columns, fields) {
      const { status } = columns
      await write(
        tx,
        before,
        columns,
        tx`, admin_fields = array(select distinct unnest(admin_fields || ${[...fields]}::text[]))
          ${
            status === 'disabled'
              ? tx`, disabled_at = coalesce(disabled_at, now()), discovery_status = 'disabled'`
              : tx``
          }
          ${
            status === 'active'
              ? tx`, disabled_at = null, (discovery_status, last_error_summary) = (
                  select coalesce(max(last.status), 'never'), max(last.error_summary) from (
                    select r.status, r.error_summary
                    from mcp_registry.external_mcp_discovery_runs r
                    where r.server_id = ${before.id} and r.status <> 'disabled'
                    order by r.started_at desc, r.id desc limit 1) last)`
              : tx``
          }`,
      )
    },
    async listActive() {
      const rows = await sql<{ id: string }[]>`
        select id from mcp_registry.external_mcp_servers where status = 'active' order by server_key`
      return rows.map(({ id }) => id)
    },
    async seed(plan, updated) {
      const planned = await sql.begin(async (tx) => {
        await lockRegistry(tx)
        const rows = await tx<ServerRow[]>`select * from mcp_registry.external_mcp_servers`
        const result = plan(rows)
        for (const row of result.inserts) await insert(tx, row)
        for (const update of result.updates) {
          await write(tx, update.before, update.set)
          await updated(tx, update)
        }
        return result
      })
      return planned as SeedPlan
    },
  }
}
