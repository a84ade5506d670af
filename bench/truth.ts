import type { Sql } from 'postgres'

/** Longest wait for log rows that are still on their way. */
const PATIENCE_MS = 10_000

/**
 * What a governed gateway has written for the requests that it was sent. Throws unless each of them
 * has its ledger row and its summary, each tool call its closed row: a fast gateway that forgets would be no result.
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
        `for ${sent.inference} requests there are ${ledger} ledger rows and ${summaries} summaries, for ${sent.toolCalls} tool calls ${calls} closed rows`,
      )
    }
    await Bun.sleep(100)
  }
}

/** Undefined when there is no such table. */
async function count(sql: Sql, table: string, where = 'true'): Promise<number | undefined> {
  const [found] = await sql`select to_regclass(${table}) as name`
  if (found?.name === null) return undefined
  const [row] = await sql.unsafe(`select count(*) as n from ${table} where ${where}`)
  return Number(row?.n)
}
