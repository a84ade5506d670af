import type { Database } from 'model-gateway/plugin'
import type { Page, Rows } from '../_shared/page.ts'
import type { ToolRow } from './discovery-store.ts'
import type { Transaction } from './store.ts'

/** A definition of a tool, and when a discovery first found it. */
export type ToolVersionRow = Pick<
  ToolRow,
  | 'id'
  | 'schema_version'
  | 'display_name'
  | 'description'
  | 'input_schema'
  | 'schema_hash'
  | 'definition_hash'
> & {
  readonly annotations: Record<string, unknown> | null
  readonly discovered_at: Date
}

export interface ToolVersionStore {
  /** Newest first; `undefined` if the server never had such a tool. */
  list(serverId: string, toolId: string, page: Page): Promise<Rows<ToolVersionRow> | undefined>
}

/** Limits the history, because a server may change its tools at each discovery. */
const KEPT = 50

export function createToolVersionStore({ sql }: Database): ToolVersionStore {
  return {
    async list(serverId, toolId, { offset, page_size }) {
      const [count] = await sql<{ total: bigint }[]>`
        select (select count(*) from mcp_registry.external_mcp_tool_versions v
          where v.tool_id = t.id) as total
        from mcp_registry.external_mcp_tools t where t.id = ${toolId} and t.server_id = ${serverId}`
      if (count === undefined) return undefined
      const rows = await sql<ToolVersionRow[]>`
        select * from mcp_registry.external_mcp_tool_versions where tool_id = ${toolId}
        order by discovered_at desc, id desc limit ${page_size} offset ${offset}`
      return { rows, total: Number(count.total) }
    },
  }
}

/** Called after the tools are written: stores each definition that differs from the last one. */
export async function keepVersions(tx: Transaction, serverId: string, at: Date): Promise<void> {
  const { count } = await tx`
    insert into mcp_registry.external_mcp_tool_versions (id, tool_id, schema_version, display_name,
      description, annotations, input_schema, schema_hash, definition_hash, discovered_at)
    select gen_random_uuid(), t.id, t.schema_version, t.display_name, t.description, t.annotations,
      t.input_schema, t.schema_hash, t.definition_hash, ${at}
    from mcp_registry.external_mcp_tools t
      left join lateral (select v.definition_hash from mcp_registry.external_mcp_tool_versions v
        where v.tool_id = t.id order by v.discovered_at desc, v.id desc limit 1) last on true
    where t.server_id = ${serverId} and t.is_active
      and last.definition_hash is distinct from t.definition_hash`
  if (count === 0) return
  await tx`
    delete from mcp_registry.external_mcp_tool_versions where id in (
      select id from (
        select v.id, row_number() over (partition by v.tool_id order by v.discovered_at desc,
          v.id desc) as n
        from mcp_registry.external_mcp_tool_versions v
          join mcp_registry.external_mcp_tools t on t.id = v.tool_id
        where t.server_id = ${serverId}) ranked
      where n > ${KEPT})`
}
