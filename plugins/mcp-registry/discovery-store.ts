import type { AuditTrail } from 'model-gateway/admin'
import type { Database } from 'model-gateway/plugin'
import type { Page, Rows } from '../_shared/page.ts'
import type { By } from './change-servers.ts'
import { type Outcome, summaryOf } from './discovery/outcome.ts'
import type { DiscoveredTool } from './discovery/tool.ts'
import { refreshEntry, type ToolChanges } from './refresh-audit.ts'
import { type DiscoveryStatus, lockRegistry, type ServerRow, type Transaction } from './store.ts'
import { keepVersions } from './tool-version-store.ts'

export type RunStatus = Exclude<DiscoveryStatus, 'never'>

export interface ToolRow {
  readonly id: string
  readonly upstream_name: string
  readonly display_name: string | null
  readonly description: string | null
  readonly input_schema: Record<string, unknown>
  readonly schema_hash: string
  readonly schema_version: number
  readonly definition_hash: string
  readonly is_active: boolean
  readonly first_discovered_at: Date
  readonly last_discovered_at: Date
}

/** A tool with a summary of its history. */
export interface ListedTool extends ToolRow {
  readonly version_count: number
  readonly last_changed_at: Date
}

export interface RunRow {
  readonly id: string
  readonly trigger: 'admin' | 'schedule'
  readonly actor_user_id: string | null
  readonly request_id: string | null
  readonly status: RunStatus
  readonly error_summary: string | null
  readonly upstream_status: number | null
  readonly protocol_version: string | null
  readonly tool_count: number | null
  readonly added_count: number | null
  readonly changed_count: number | null
  readonly removed_count: number | null
  readonly started_at: Date
  readonly finished_at: Date
}

export interface Run {
  /** The administrator who asked for it; `undefined`: the schedule. */
  readonly by: By | undefined
  readonly startedAt: Date
  readonly finishedAt: Date
}

export interface DiscoveryStore {
  /** Takes the lease of this server; `undefined` if it is taken. */
  lease(serverId: string, ms: number): Promise<string | undefined>
  release(serverId: string, leaseId: string): Promise<void>
  /**
   * Writes a run, its tools and the audit entry in one transaction. A server that was disabled or
   * changed meanwhile keeps its tools. Resolves to the outcome as written.
   */
  commit(server: ServerRow, leaseId: string, run: Run, outcome: Outcome): Promise<Outcome>
  listTools(
    serverId: string,
    filter: { readonly includeInactive: boolean },
    page: Page,
  ): Promise<Rows<ListedTool>>
  listRuns(serverId: string, page: Page): Promise<Rows<RunRow>>
  /** Whether this replica takes the scheduled run of `slot`. */
  takeSlot(slot: Date, ms: number): Promise<boolean>
  /** Extends the lease of the scheduled run. */
  keepSlot(slot: Date, ms: number): Promise<void>
  finishSlot(slot: Date): Promise<void>
}

export function createDiscoveryStore({ sql }: Database, audit: () => AuditTrail): DiscoveryStore {
  return {
    async lease(serverId, ms) {
      const [row] = await sql<{ lease_id: string }[]>`
        insert into mcp_registry.discovery_leases as l (server_id, lease_id, until)
        values (${serverId}, ${Bun.randomUUIDv7()}, now() + ${ms} * interval '1 millisecond')
        on conflict (server_id) do update set lease_id = excluded.lease_id, until = excluded.until
          where l.until < now()
        returning lease_id`
      return row?.lease_id
    },
    async release(serverId, leaseId) {
      await sql`
        delete from mcp_registry.discovery_leases
        where server_id = ${serverId} and lease_id = ${leaseId}`
    },
    async commit(server, leaseId, run, outcome) {
      const written = await sql.begin(async (tx) => {
        await lockRegistry(tx)
        const final = await judge(tx, server, leaseId, outcome)
        const changes =
          final.status === 'success' ? await replaceTools(tx, server.id, run, final) : undefined
        await summarise(tx, server.id, run, final)
        await record(tx, server.id, run, final, changes)
        if (run.by !== undefined) {
          await audit().write(tx, refreshEntry(server, run.by, final, changes))
        }
        return final
      })
      return written as Outcome
    },
    async listTools(serverId, { includeInactive }, { offset, page_size }) {
      const where = sql`where server_id = ${serverId} ${includeInactive ? sql`` : sql`and is_active`}`
      const [count] = await sql<{ total: bigint }[]>`
        select count(*) as total from mcp_registry.external_mcp_tools ${where}`
      const rows = await sql<ListedTool[]>`
        select t.*, v.version_count, coalesce(v.last_changed_at, t.first_discovered_at)
          as last_changed_at
        from mcp_registry.external_mcp_tools t, lateral (
          select count(*)::integer as version_count, max(discovered_at) as last_changed_at
          from mcp_registry.external_mcp_tool_versions where tool_id = t.id) v
        ${where}
        order by upstream_name limit ${page_size} offset ${offset}`
      return { rows, total: Number(count?.total ?? 0) }
    },
    async listRuns(serverId, { offset, page_size }) {
      const [count] = await sql<{ total: bigint }[]>`
        select count(*) as total from mcp_registry.external_mcp_discovery_runs
        where server_id = ${serverId}`
      const rows = await sql<RunRow[]>`
        select * from mcp_registry.external_mcp_discovery_runs where server_id = ${serverId}
        order by started_at desc, id desc limit ${page_size} offset ${offset}`
      return { rows, total: Number(count?.total ?? 0) }
    },
    async takeSlot(slot, ms) {
      const taken = await sql`
        update mcp_registry.discovery_schedule
        set slot = ${slot}, running_until = now() + ${ms} * interval '1 millisecond'
        where slot < ${slot} and (running_until is null or running_until < now()) returning id`
      return taken.length > 0
    },
    async keepSlot(slot, ms) {
      await sql`
        update mcp_registry.discovery_schedule
        set running_until = now() + ${ms} * interval '1 millisecond' where slot = ${slot}`
    },
    async finishSlot(slot) {
      await sql`
        update mcp_registry.discovery_schedule set running_until = null where slot = ${slot}`
    },
  }
}

/** The final outcome, decided while the server row is locked. */
async function judge(
  tx: Transaction,
  before: ServerRow,
  leaseId: string,
  outcome: Outcome,
): Promise<Outcome> {
  const [now] = await tx<{ status: string; version: number; held: boolean }[]>`
    select s.status, s.version, l.lease_id is not null as held
    from mcp_registry.external_mcp_servers s
      left join mcp_registry.discovery_leases l on l.server_id = s.id and l.lease_id = ${leaseId}
    where s.id = ${before.id} for update of s`
  if (now?.status !== 'active') return { status: 'disabled', summary: 'the server is disabled' }
  if (now.version === before.version && now.held) return outcome
  const what = now.held ? 'the server was changed meanwhile' : 'another refresh took over'
  return { status: 'failed', summary: `superseded: ${what}` }
}

/** Deactivates all tools, then activates the discovered ones, which keep their ids. */
async function replaceTools(
  tx: Transaction,
  serverId: string,
  run: Run,
  { tools }: Extract<Outcome, { status: 'success' }>,
): Promise<ToolChanges> {
  const before = await tx<Pick<ToolRow, 'upstream_name' | 'definition_hash' | 'is_active'>[]>`
    select upstream_name, definition_hash, is_active from mcp_registry.external_mcp_tools
    where server_id = ${serverId}`
  await tx`
    update mcp_registry.external_mcp_tools set is_active = false
    where server_id = ${serverId} and is_active`
  const rows = tools.map((tool) => ({
    id: Bun.randomUUIDv7(),
    upstream_name: tool.name,
    display_name: tool.displayName ?? null,
    description: tool.description ?? null,
    annotations: tool.annotations ?? null,
    input_schema: tool.inputSchema,
    schema_hash: tool.schemaHash,
    definition_hash: tool.definitionHash,
  }))
  await tx`
    insert into mcp_registry.external_mcp_tools as t (id, server_id, upstream_name, display_name,
      description, annotations, input_schema, schema_hash, definition_hash, first_discovered_at,
      last_discovered_at)
    select d.id, ${serverId}, d.upstream_name, d.display_name, d.description, d.annotations::json,
      d.input_schema::json, d.schema_hash, d.definition_hash, ${run.finishedAt}, ${run.finishedAt}
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as d (id uuid, upstream_name text,
      display_name text, description text, annotations text, input_schema text, schema_hash text,
      definition_hash text)
    on conflict (server_id, upstream_name) do update set
      display_name = excluded.display_name, description = excluded.description,
      annotations = excluded.annotations, input_schema = excluded.input_schema,
      schema_version = t.schema_version + (t.schema_hash <> excluded.schema_hash)::int,
      schema_hash = excluded.schema_hash, definition_hash = excluded.definition_hash,
      is_active = true, last_discovered_at = excluded.last_discovered_at`
  await keepVersions(tx, serverId, run.finishedAt)
  const known = new Map(before.map((tool) => [tool.upstream_name, tool]))
  const found = new Set(tools.map(({ name }) => name))
  const names = (found: readonly DiscoveredTool[]) => found.map(({ name }) => name)
  return {
    added: names(tools.filter(({ name }) => known.get(name)?.is_active !== true)),
    changed: names(
      tools.filter(({ name, definitionHash }) => {
        const tool = known.get(name)
        return tool?.is_active === true && tool.definition_hash !== definitionHash
      }),
    ),
    removed: before
      .filter((tool) => tool.is_active && !found.has(tool.upstream_name))
      .map((tool) => tool.upstream_name),
  }
}

/** The summary on the server's row. A failed run keeps the results of the last successful one. */
async function summarise(tx: Transaction, serverId: string, run: Run, outcome: Outcome) {
  const found =
    outcome.status === 'success'
      ? {
          tool_count: outcome.tools.length,
          last_successful_discovery_at: run.finishedAt,
          protocol_version: outcome.protocolVersion,
        }
      : {}
  await tx`
    update mcp_registry.external_mcp_servers
    set ${tx({
      discovery_status: outcome.status,
      last_error_summary: summaryOf(outcome),
      last_discovery_at: run.finishedAt,
      ...found,
    })}
    where id = ${serverId}`
}

async function record(
  tx: Transaction,
  serverId: string,
  run: Run,
  outcome: Outcome,
  changes: ToolChanges | undefined,
) {
  const success = outcome.status === 'success'
  await tx`
    insert into mcp_registry.external_mcp_discovery_runs ${tx({
      id: Bun.randomUUIDv7(),
      server_id: serverId,
      trigger: run.by === undefined ? 'schedule' : 'admin',
      actor_user_id: run.by?.caller.userId ?? null,
      request_id: run.by?.requestId ?? null,
      status: outcome.status,
      error_summary: summaryOf(outcome),
      upstream_status: success ? null : (outcome.upstreamStatus ?? null),
      protocol_version: success ? outcome.protocolVersion : null,
      tool_count: success ? outcome.tools.length : null,
      added_count: changes?.added.length ?? null,
      changed_count: changes?.changed.length ?? null,
      removed_count: changes?.removed.length ?? null,
      started_at: run.startedAt,
      finished_at: run.finishedAt,
    })}`
}
