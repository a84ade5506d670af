import { hash } from 'node:crypto'
import type { McpAudit } from 'model-gateway/mcp'
import { GatewayError } from 'model-gateway/plugin'
import { type SessionStore, sessionKey } from './store.ts'

/** How long a cached owner is used without a query; also the resolution of the last use. */
const KNOWN_MS = 3_600_000
const MOST_KNOWN = 10_000

/** The stored form of a session id. */
export function sessionHash(sessionId: string): string {
  return hash('sha256', sessionId, 'hex')
}

export interface Sessions extends Pick<McpAudit, 'bind' | 'ownerOf' | 'unbind'> {
  /** The session of this key has ended on some replica. */
  forget(key: string): void
  /** Any session may have ended. */
  forgetAll(): void
}

/**
 * The owners of sessions. An owner never changes, so that a cached one is right until the session
 * ends; unknown sessions are queried each time. Throws `store_unavailable`.
 */
export function createSessions(
  store: SessionStore,
  away: <T>(work: () => Promise<T>) => Promise<T>,
  fault: (error: unknown) => void,
): Sessions {
  const known = new Map<string, { readonly owner: string; readonly until: number }>()
  /** Incremented when a session is forgotten, because a pending look-up may be outdated then. */
  let endings = 0

  function remember(key: string, owner: string): void {
    known.delete(key)
    if (known.size >= MOST_KNOWN) known.delete(known.keys().next().value as string)
    known.set(key, { owner, until: performance.now() + KNOWN_MS })
  }

  function forget(key: string): void {
    endings++
    known.delete(key)
  }

  return {
    async bind(sessionId, { serverId, ownershipScopeKey }) {
      const hash = sessionHash(sessionId)
      const owner = await away(() => store.bind(serverId, hash, ownershipScopeKey))
      if (owner !== ownershipScopeKey) {
        throw new GatewayError(
          'upstream_http_error',
          'the server issued a session id that is already in use',
        )
      }
      remember(sessionKey(serverId, hash), owner)
    },
    async ownerOf(serverId, sessionId) {
      const hash = sessionHash(sessionId)
      const key = sessionKey(serverId, hash)
      const entry = known.get(key)
      if (entry !== undefined && entry.until > performance.now()) {
        return { serverId, ownershipScopeKey: entry.owner }
      }
      const before = endings
      const owner = await away(() => store.find(serverId, hash))
      if (owner === undefined) return undefined
      if (endings === before) remember(key, owner)
      return { serverId, ownershipScopeKey: owner }
    },
    unbind(serverId, sessionId) {
      const hash = sessionHash(sessionId)
      forget(sessionKey(serverId, hash))
      store.remove(serverId, hash).catch(fault)
    },
    forget,
    forgetAll() {
      endings++
      known.clear()
    },
  }
}
