import type { Database } from 'model-gateway/plugin'
import { deleteInBatches } from '../_shared/delete-in-batches.ts'
import { firstId } from '../_shared/own-id.ts'

/** Deletes rows older than `before`, with their payloads; returns the number of tool calls. */
export async function purge({ sql, schema }: Database, before: Date): Promise<number> {
  const invocations = `"${schema}".mcp_tool_invocations`
  const overheads = `"${schema}".request_mcp_token_overheads`
  const last = firstId(before)
  // skip locked, so that concurrent purges take different rows.
  const oldest = (table: string, most: number) =>
    `select id from ${table} where id < $1::text::uuid order by id
      limit ${most} for update skip locked`

  await deleteInBatches((most) =>
    sql.unsafe(`delete from ${overheads} where id in (${oldest(overheads, most)})`, [last]),
  )
  return await deleteInBatches((most) =>
    sql.unsafe(
      `with gone as materialized (${oldest(invocations, most)}),
        payloads as (
          delete from "${schema}".mcp_tool_invocation_payloads
          where invocation_id in (select id from gone)
        )
      delete from ${invocations} where id in (select id from gone)`,
      [last],
    ),
  )
}
