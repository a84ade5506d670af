import type { Database, Disposer } from 'model-gateway/plugin'

export interface SessionStore {
  /** Stores the owner; returns the existing owner if the session was bound before. */
  bind(serverId: string, hash: string, owner: string): Promise<string>
  /** Whose it is; notes that it is used. */
  find(serverId: string, hash: string): Promise<string | undefined>
  /** Every replica hears of it. */
  remove(serverId: string, hash: string): Promise<void>
  /** Deletes sessions that were unused for this long. */
  prune(idleMs: number): Promise<void>
  /**
   * Calls `removed` for every session that ends on any replica, and `unsure` if notifications may
   * have been lost.
   */
  listen(removed: (key: string) => void, unsure: () => void): Promise<Disposer>
}

/** The key of a session in notifications and in memory. */
export function sessionKey(serverId: string, hash: string): string {
  return `${serverId} ${hash}`
}

const CHANNEL = 'mcp_sessions_removed'

export function createSessionStore({ sql, schema, listen }: Database): SessionStore {
  const sessions = sql(`${schema}.mcp_sessions`)
  return {
    async bind(serverId, hash, owner) {
      const [row] = await sql<{ owner: string }[]>`
        insert into ${sessions} as s (server_id, session_hash, ownership_scope_key)
        values (${serverId}, ${hash}, ${owner})
        on conflict (server_id, session_hash) do update set last_used_at = now()
        returning s.ownership_scope_key as owner`
      return row?.owner ?? owner
    },
    async find(serverId, hash) {
      const [row] = await sql<{ owner: string; stale: boolean }[]>`
        select ownership_scope_key as owner, last_used_at < now() - interval '1 hour' as stale
        from ${sessions} where server_id = ${serverId} and session_hash = ${hash}`
      if (row?.stale === true) {
        await sql`update ${sessions} set last_used_at = now()
          where server_id = ${serverId} and session_hash = ${hash}`
      }
      return row?.owner
    },
    async remove(serverId, hash) {
      await sql`
        with removed as (
          delete from ${sessions} where server_id = ${serverId} and session_hash = ${hash}
          returning 1
        ) select pg_notify(${CHANNEL}, ${sessionKey(serverId, hash)}) from removed`
    },
    async prune(idleMs) {
      await sql`delete from ${sessions}
        where last_used_at < now() - ${idleMs}::float8 * interval '1 ms'`
    },
    listen: (removed, unsure) => listen(CHANNEL, removed, unsure),
  }
}
