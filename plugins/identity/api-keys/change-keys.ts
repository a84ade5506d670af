import { type Clock, GatewayError, type Static } from 'model-gateway/plugin'
import { notFound } from '../_shared/fields.ts'
import type { By, MakeChange, Transaction } from '../_shared/store.ts'
import type { ApiKeyRow, ApiKeyStore } from './store.ts'
import { type ApiKeyView, stateOf, viewOfKey } from './view.ts'

type View = Static<typeof ApiKeyView>

/** A new key, or a new secret of a key. */
export interface MadeKey {
  readonly raw: string
  readonly publicId: string
  readonly secretHash: string
}

export interface KeyParts {
  readonly store: ApiKeyStore
  readonly change: MakeChange
  readonly clock: Clock
  /** With a public id: a new secret for that key. */
  readonly makeKey: (publicId?: string) => MadeKey
}

/** Changes that admins can make to every key, and users to their own. */
export interface KeyChanges {
  /** Throws `not_found` for an unknown key, or one of another owner. */
  find(id: string, ownerId?: string, tx?: Transaction): Promise<ApiKeyRow>
  /** Permanent; revoking again changes nothing. */
  revoke(by: By, id: string, ownerId?: string): Promise<View>
  /** Throws `conflict` for a revoked key. */
  rotate(
    by: By,
    id: string,
    graceSecs: number | undefined,
    ownerId?: string,
  ): Promise<View & { readonly api_key: string }>
}

const DEFAULT_GRACE_SECS = 24 * 3600

export function createKeyChanges({ store, change, clock, makeKey }: KeyParts): KeyChanges {
  async function find(id: string, ownerId?: string, tx?: Transaction): Promise<ApiKeyRow> {
    const row = await store.find(id, tx)
    const foreign = ownerId !== undefined && row?.user_id !== ownerId
    if (row === undefined || foreign) throw notFound('API key')
    return row
  }

  return {
    find,
    revoke: (by, id, ownerId) =>
      change(by, async ({ sql, audit }) => {
        const before = await find(id, ownerId, sql)
        const now = clock.now()
        if (before.revoked_at !== null) return viewOfKey(before, now)
        await store.update(sql, id, { revoked_at: now }, [])
        const after = viewOfKey(await find(id, ownerId, sql), now)
        await audit({
          action: 'api_key.revoke',
          objectKind: 'api_key',
          objectId: id,
          before: viewOfKey(before, now),
          after,
        })
        return after
      }),
    rotate: (by, id, graceSecs = DEFAULT_GRACE_SECS, ownerId) =>
      change(by, async ({ sql, audit }) => {
        const before = await find(id, ownerId, sql)
        const now = clock.now()
        if (stateOf(before, now) === 'revoked') {
          throw new GatewayError('conflict', 'the key is revoked; issue a new one')
        }
        const { raw, secretHash } = makeKey(before.public_id)
        const until = new Date(now.getTime() + graceSecs * 1000)
        await store.rotate(sql, id, secretHash, now, until)
        const after = viewOfKey(await find(id, ownerId, sql), now)
        await audit({
          action: 'api_key.rotate',
          objectKind: 'api_key',
          objectId: id,
          before: viewOfKey(before, now),
          after,
        })
        return { api_key: raw, ...after }
      }),
  }
}
