import type { Secret } from 'model-gateway/plugin'

export interface Token {
  readonly value: Secret
  /** Unix time in milliseconds. */
  readonly expiresAt: number
}

export interface TokenCache {
  /** A valid token, immediately if cached. Rejects as fetching does. */
  get(): Secret | Promise<Secret>
  /** Drops this token, because the upstream refused it. */
  drop(value: string): void
}

export interface TokenCacheOptions {
  /** Unix time in milliseconds. */
  now(): number
  /** Receives each failure, also of fetches that are not awaited. */
  failed(error: unknown): void
}

/** How long before expiry a token is replaced; shorter for short-lived tokens. */
const EARLY_MS = 300_000
const EARLY_SHORT_MS = 60_000
const SHORT_LIVED_MS = 600_000

/** Minimum time between two fetches while a valid token exists. */
const RETRY_MS = 10_000

/**
 * Caches one token. Before it expires, one shared fetch gets a new one, while the old one is used
 * as long as it is valid.
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
      // Not awaited, because the failure is already reported.
      if (at >= current.refreshAt) refresh().catch(() => {})
      return current.value
    },
    drop(value) {
      if (current?.value.reveal() === value) current = undefined
    },
  }
}
