import type { Secret } from 'model-gateway/plugin'

export interface Token {
  readonly value: Secret
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

export interface TokenCache {
  /** A token that is valid now; at once while there is one. Rejects as fetching it does. */
  get(): Secret | Promise<Secret>
  /** Forgets this token, which the upstream did not accept. */
  drop(value: string): void
}

export interface TokenCacheOptions {
  /** Milliseconds since 1970. */
  now(): number
  /** Told of every failure, also of those that nobody waits for. */
  failed(error: unknown): void
}

/** How long before its expiry a token is replaced, and one that is short-lived from the start. */
const EARLY_MS = 300_000
const EARLY_SHORT_MS = 60_000
const SHORT_LIVED_MS = 600_000

/** Time between two attempts while a valid token is there. */
const RETRY_MS = 10_000

/**
 * Keeps one token. Near its end a new one is fetched, by one fetch however many callers there are,
 * while the old one serves as long as it is valid.
 */
export function createTokenCache(
  fetchToken: () => Promise<Token>,
  { now, failed }: TokenCacheOptions,
): TokenCache {
  let current: (Token & { refreshAt: number }) | undefined
  let pending: Promise<Secret> | undefined

  async function fetchOnce(): Promise<Secret> {
    try {
      const token = await fetchToken()
      const at = now()
      const lifetime = token.expiresAt - at
      const early = lifetime < SHORT_LIVED_MS ? EARLY_SHORT_MS : EARLY_MS
      const refreshAt = Math.max(token.expiresAt - early, at + RETRY_MS)
      current = { ...token, refreshAt }
      return token.value
    } catch (error) {
      failed(error)
      if (current === undefined || now() >= current.expiresAt) throw error
      current.refreshAt = now() + RETRY_MS
      return current.value
    } finally {
      pending = undefined
    }
  }

  function refresh(): Promise<Secret> {
    pending ??= fetchOnce()
    return pending
  }

  return {
    get() {
      const at = now()
      if (current === undefined || at >= current.expiresAt) return refresh()
      // Nobody waits for it; what goes wrong has been reported.
      if (at >= current.refreshAt) refresh().catch(() => {})
      return current.value
    },
    drop(value) {
      if (current?.value.reveal() === value) current = undefined
    },
  }
}
