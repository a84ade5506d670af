import type { Database } from 'model-gateway/plugin'
import { deleteInBatches } from '../_shared/delete-in-batches.ts'

/**
 * Deletes discovery records that began before this time; returns their number. Keeps the last record
 * of each server, and its last one that is not `disabled`, because both are shown with the server.
 */
export async function purgeRuns({ sql }: Database, before: Date): Promise<number> {
  // skip locked, so that concurrent purges take different rows.
  return await deleteInBatches(
    (most) => sql`
      delete from mcp_registry.external_mcp_discovery_runs where id in (
        select r.id from mcp_registry.external_mcp_discovery_runs r
        where r.started_at < ${before} and exists (
          select from mcp_registry.external_mcp_discovery_runs later
          where later.server_id = r.server_id and later.started_at > r.started_at
            and (later.status <> 'disabled' or r.status = 'disabled'))
        limit ${most} for update of r skip locked)`,
  )
}
