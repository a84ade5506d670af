import type { Database } from 'model-gateway/plugin'

const ROWS = 5_000
/** Statements of one purge: what is left is for the next. */
const STATEMENTS = 200

/**
 * Deletes records of refreshes that began before this time; how many there were. The last one of a
 * server that said something of its tools stays: the server is described by it.
 */
export async function purgeRuns({ sql }: Database, before: Date): Promise<number> {
  let deleted = 0
  for (let done = 0; done < STATEMENTS; done += 1) {
    const { count } = await sql`
      delete from mcp_registry.external_mcp_discovery_runs where id in (
        select r.id from mcp_registry.external_mcp_discovery_runs r
        where r.started_at < ${before} and exists (
          select from mcp_registry.external_mcp_discovery_runs later
          where later.server_id = r.server_id and later.started_at > r.started_at
            and later.status <> 'disabled')
        limit ${ROWS} for update of r skip locked)`
    deleted += count
    if (count < ROWS) break
  }
  return deleted
}
