import type { Database } from 'model-gateway/plugin'
import { firstId } from '../_shared/first-id.ts'

const ROWS = 5_000
/** Statements of one purge and table: what is left is for the next. */
const STATEMENTS = 200

/** Deletes what is older than `before`, payloads included; how many tool calls there were. */
export async function purge({ sql, schema }: Database, before: Date): Promise<number> {
  const invocations = `"${schema}".mcp_tool_invocations`
  const overheads = `"${schema}".request_mcp_token_overheads`
  const last = firstId(before)
  // Replicas that purge at the same time take different rows.
  const oldest = (table: string) =>
    `select id from ${table} where id < $1::text::uuid order by id
      limit ${ROWS} for update skip locked`

  async function repeat(statement: string): Promise<number> {
    let deleted = 0
    for (let done = 0; done < STATEMENTS; done += 1) {
      const { count } = await sql.unsafe(statement, [last])
      deleted += count
      if (count < ROWS) break
    }
    return deleted
  }

  await repeat(`delete from ${overheads} where id in (${oldest(overheads)})`)
  return await repeat(`
    with gone as materialized (${oldest(invocations)}),
      payloads as (
        delete from "${schema}".mcp_tool_invocation_payloads
        where invocation_id in (select id from gone)
      )
    delete from ${invocations} where id in (select id from gone)`)
}
