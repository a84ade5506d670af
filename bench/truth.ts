import type { Sql } from 'postgres'

/** Maximum wait for log rows that are not written yet. */
const PATIENCE_MS = 10_000

/**
 * Describes what a gateway of profile G has written. Throws unless each request has one ledger row
 * and one summary, and each tool call one closed row, because the speed of a gateway that loses
 * rows means nothing.
 */
export async function governedCounts(
  sql: Sql,
  sent: { readonly inference: number; readonly toolCalls: number },
): Promise<string> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const ledger = await count(sql, 'accounting.usage_cost_events')
    const summaries = await count(sql, 'request_log.request_logs')
    const calls = await count(sql, 'mcp_audit.mcp_tool_invocations', "status = 'success'")
    if (ledger === sent.inference && summaries === sent.inference && calls === sent.toolCalls) {
      const payloads = await count(sql, 'request_log.request_log_payloads')
      return `G wrote ${ledger} ledger rows, ${summaries} summaries and ${payloads ?? 'no'} payloads for ${sent.inference} requests, ${calls} audit rows for as many tool calls`
    }
    if (performance.now() > deadline) {
      throw new Error(
        `G wrote ${ledger} ledger rows and ${summaries} summaries for ${sent.inference} requests, and ${calls} closed rows for ${sent.toolCalls} tool calls; each needs exactly one`,
      )
    }
    await Bun.sleep(100)
  }
}

/** The number of rows, or undefined when the table does not exist. */
async function count(sql: Sql, table: string, where = 'true'): Promise<number | undefined> {
  const [found] = await sql`select to_regclass(${table}) as name`
  if (found?.name === null) return undefined
  const [row] = await sql.unsafe(`select count(*) as n from ${table} where ${where}`)
  return Number(row?.n)
}
