import { timingSafeEqual } from 'node:crypto'
import type { Identity, KeyShown, Principal } from 'model-gateway/identity'
import { GatewayError, type HealthCheck, inTime } from 'model-gateway/plugin'
import { createFreshLoad } from '../_shared/fresh-load.ts'
import { hashSecret, parseKey } from './keys.ts'
import type { KeyRecord } from './store.ts'

/** How long an unknown key id is remembered, and how many. */
const UNKNOWN_MS = 5_000
const UNKNOWN_LIMIT = 10_000
/** Maximum number of cached secrets that matched; the cache is cleared at every change. */
const VERIFIED_LIMIT = 10_000
/** Unknown ids cause at most one database look-up in this time, all of them together. */
const LOOK_AGAIN_MS = 100
/** Maximum wait of a caller with an unknown id for that look-up. */
const LOOK_AGAIN_PATIENCE_MS = 1_000
const USE_NOTED_EVERY_MS = 60_000
/** After this time several polls of the database have failed, or one hangs: report it. */
const FRESH_MS = 5_000

/** A key whose secret was compared. */
interface Verified {
  readonly record: KeyRecord
  /** Milliseconds since 1970, or Infinity. */
  readonly until: number
}

/** Where keys come from. */
export interface KeySource {
  readRevision(): Promise<bigint>
  readKeys(): Promise<{
    readonly revision: bigint
    readonly keys: ReadonlyMap<string, KeyRecord>
  }>
}

export interface IdentitySnapshot extends Pick<Identity, 'authenticate' | 'onChange' | 'lookUp'> {
  /**
   * Resolves when memory has the state of the database at the time of this call, or a later one.
   */
  check(): Promise<void>
  /** Maximum age of the snapshot; when it is older, every key is rejected. */
  setMaxAge(ms: number): void
  /** `degraded` while an old snapshot is used, `failing` when it is too old. */
  health(): ReturnType<HealthCheck['check']>
  /** Uses since the previous call: key id → milliseconds since 1970. */
  takeUses(): ReadonlyMap<string, number>
  /** Gives back uses that could not be written. */
  returnUses(uses: ReadonlyMap<string, number>): void
}

/** All keys in memory; `now` in milliseconds since 1970. */
export function createSnapshot(
  source: KeySource,
  now: () => number,
  refused: (record: KeyRecord, code: string, shown: KeyShown) => void = () => {},
): IdentitySnapshot {
  let keys: ReadonlyMap<string, KeyRecord> = new Map()
  let revision: bigint | undefined
  let confirmedAt = Number.NEGATIVE_INFINITY
  let lookFailed = false
  let maxAge = 0
  const verified = new Map<string, Verified>()
  const listeners = new Set<() => void>()
  const unknown = new Map<string, number>()
  let uses = new Map<string, number>()

  let looking: Promise<void> | undefined
  let lookedAt = Number.NEGATIVE_INFINITY

  async function load(): Promise<void> {
    try {
      await look()
      lookFailed = false
    } catch (error) {
      lookFailed = true
      throw error
    }
  }

  async function look(): Promise<void> {
    const askedAt = now()
    const known = await source.readRevision()
    // After a failed poll, read again even at the same revision: a failover may have lost changes, and
    // the counter then counts others.
    if (lookFailed || known !== revision) {
      const next = await source.readKeys()
      for (const [publicId, record] of next.keys) {
        const before = keys.get(publicId)?.lastUsedAt ?? 0
        if (before > record.lastUsedAt) record.lastUsedAt = before
      }
      keys = next.keys
      revision = next.revision
      verified.clear()
      for (const changed of listeners) changed()
    }
    confirmedAt = askedAt
  }

  /** The time between two successful polls does not count as age. */
  function age(at: number): number {
    const since = at - confirmedAt
    return lookFailed || since > FRESH_MS ? since : 0
  }

  const check = createFreshLoad(load)

  function lookAgain(): Promise<void> {
    looking ??= (async () => {
      // The clock may have been set back since.
      await Bun.sleep(Math.min(Math.max(0, lookedAt + LOOK_AGAIN_MS - now()), LOOK_AGAIN_MS))
      looking = undefined
      lookedAt = now()
      await check()
    })()
    return looking
  }

  async function authenticateUnknown(
    raw: string,
    publicId: string,
    secret: string,
    shown: KeyShown | undefined,
  ) {
    const looked = await inTime(lookAgain(), LOOK_AGAIN_PATIENCE_MS).catch(() => undefined)
    const record = keys.get(publicId)
    if (record !== undefined) return verify(raw, secret, record, shown)
    if (looked !== undefined) {
      if (unknown.size >= UNKNOWN_LIMIT) unknown.delete(unknown.keys().next().value ?? '')
      unknown.set(publicId, now() + UNKNOWN_MS)
    }
    throw notFound()
  }

  function verify(
    raw: string,
    secret: string,
    record: KeyRecord,
    shown: KeyShown | undefined,
  ): Principal {
    const until = validUntil(hashSecret(secret), record)
    const at = now()
    const refusal =
      at >= until
        ? new GatewayError('api_key_secret_mismatch', 'The API key is not valid.')
        : unusable(record, at)
    if (refusal !== undefined) {
      if (shown !== undefined) refused(record, refusal.code, shown)
      throw refusal
    }
    if (verified.size >= VERIFIED_LIMIT) verified.clear()
    verified.set(raw, { record, until: Math.min(until, record.expiresAt) })
    return use(record, at)
  }

  function use(record: KeyRecord, at: number): Principal {
    if (at - record.lastUsedAt >= USE_NOTED_EVERY_MS) {
      record.lastUsedAt = at
      uses.set(record.principal.apiKeyId, at)
    }
    return record.principal
  }

  return {
    authenticate(raw, shown) {
      const at = now()
      if (age(at) > maxAge) {
        throw new GatewayError(
          'store_unavailable',
          'API keys cannot be checked: the database has been unreachable for too long.',
        )
      }
      const known = verified.get(raw)
      if (known !== undefined && at < known.until) return use(known.record, at)

      const parsed = parseKey(raw)
      if (parsed === undefined) {
        throw new GatewayError(
          'invalid_api_key_format',
          'The API key must have the form gwk_<id>.<secret>.',
        )
      }
      const record = keys.get(parsed.publicId)
      if (record !== undefined) return verify(raw, parsed.secret, record, shown)
      const until = unknown.get(parsed.publicId)
      if (until !== undefined) {
        if (at < until) throw notFound()
        unknown.delete(parsed.publicId)
      }
      return authenticateUnknown(raw, parsed.publicId, parsed.secret, shown)
    },
    lookUp(name) {
      const publicId = name.startsWith('gwk_') ? name.slice('gwk_'.length) : name
      const record =
        keys.get(publicId) ??
        [...keys.values()].find(({ principal: { apiKeyId } }) => apiKeyId === name)
      const refusal = record && unusable(record, now())
      if (refusal !== undefined) throw refusal
      return record?.principal
    },
    check,
    onChange(changed) {
      listeners.add(changed)
      return () => void listeners.delete(changed)
    },
    setMaxAge(ms) {
      maxAge = ms
    },
    health() {
      const stale = age(now())
      if (stale <= Math.min(FRESH_MS, maxAge)) return { status: 'ok' }
      const details = { stale_secs: Math.floor(stale / 1000) }
      return { status: stale > maxAge ? 'failing' : 'degraded', details }
    },
    takeUses() {
      const taken = uses
      uses = new Map()
      return taken
    },
    returnUses(taken) {
      for (const [id, at] of taken) if (!uses.has(id)) uses.set(id, at)
    },
  }
}

/** Why a key with a correct secret must not be used. */
function unusable(record: KeyRecord, at: number): GatewayError | undefined {
  if (record.revoked) {
    return new GatewayError('api_key_revoked', 'The API key has been revoked.')
  }
  if (record.expiresAt <= at) {
    return new GatewayError('api_key_expired', 'The API key has expired.')
  }
  return record.ownerActive
    ? undefined
    : new GatewayError('api_key_owner_inactive', 'The owner of the API key is not active.')
}

/** Until when a secret is valid for a key, in milliseconds since 1970; 0 for a wrong secret. */
function validUntil(hash: Buffer, { secretHash, previous }: KeyRecord): number {
  if (timingSafeEqual(hash, secretHash)) return Number.POSITIVE_INFINITY
  return previous !== undefined && timingSafeEqual(hash, previous.secretHash) ? previous.until : 0
}

function notFound(): GatewayError {
  return new GatewayError('api_key_not_found', 'The API key does not exist.')
}
