import type { Sql } from 'postgres'

/** What is known of a run from outside the gateway, and what its books say. */
export interface Audit {
  /** Calls whose end the caller received and that are not in the books. Must be empty. */
  readonly missing: readonly string[]
  /** Calls that are in the books more than once. Must be empty. */
  readonly doubled: readonly string[]
  /** Calls that reached the upstream and are not in the books; the caller did not get their end. */
  readonly lost: readonly string[]
}

/** Compares the upstream's journal and the callers' memory with ledger and rejected charges. */
export async function audit(
  sql: Sql,
  run: { readonly called: readonly string[]; readonly received: readonly string[] },
): Promise<Audit> {
  const rows = await sql<{ request_id: string; count: number }[]>`
    select request_id, count(*)::int as count from (
      select request_id from accounting.usage_cost_events
      union all
      select request_id from accounting.budget_rejected_charges
    ) books group by request_id`
  const booked = new Map(rows.map((row) => [row.request_id, row.count]))
  return {
    missing: run.received.filter((id) => !booked.has(id)),
    doubled: [...booked].filter(([, count]) => count > 1).map(([id]) => id),
    lost: run.called.filter((id) => !booked.has(id)),
  }
}
