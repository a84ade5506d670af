import type { Database } from 'model-gateway/plugin'
import { lockIdentity, type Transaction } from './_shared/store.ts'
import { type ApiKeyRow, type ApiKeyStore, createApiKeyStore } from './api-keys/store.ts'

/** Who a key is for: the id of the user with this e-mail or the service account with this key. */
export type OwnerName =
  | { readonly kind: 'user'; readonly email: string }
  | { readonly kind: 'service_account'; readonly key: string }

export interface OwnerIds {
  readonly userId: string | null
  readonly serviceAccountId: string | null
}

export async function findOwner(
  { sql }: Database,
  owner: OwnerName,
): Promise<OwnerIds | undefined> {
  const [row] =
    owner.kind === 'user'
      ? await sql<OwnerIds[]>`
          select id as "userId", null as "serviceAccountId"
          from identity.users where email = ${owner.email.toLowerCase()}`
      : await sql<OwnerIds[]>`
          select null as "userId", id as "serviceAccountId"
          from identity.service_accounts where key = ${owner.key}`
  return row
}

export interface NewKey extends OwnerIds {
  readonly publicId: string
  readonly secretHash: string
  readonly name: string
  readonly modelGrantMode: 'explicit' | 'all'
  readonly grantedModels: string[]
  readonly expiresAt: Date | null
}

async function insertKey(store: ApiKeyStore, tx: Transaction, key: NewKey): Promise<string> {
  const id = Bun.randomUUIDv7()
  await store.insert(tx, id, {
    public_id: key.publicId,
    secret_hash: key.secretHash,
    name: key.name,
    user_id: key.userId,
    service_account_id: key.serviceAccountId,
    model_grant_mode: key.modelGrantMode,
    granted_models: key.grantedModels,
    expires_at: key.expiresAt,
  })
  return id
}

/** Inserts the key, with what else belongs to it. */
export async function issueKey(
  database: Database,
  key: NewKey,
  also: (sql: Transaction, row: ApiKeyRow) => Promise<void>,
): Promise<void> {
  const store = createApiKeyStore(database)
  await database.sql.begin(async (tx) => {
    await lockIdentity(tx)
    const row = await store.find(await insertKey(store, tx, key), tx)
    if (row === undefined) throw new Error('the key is not there after it was made')
    await also(tx, row)
  })
}

/** Inserts the key unless the user has one already; false when it has, whatever its state. */
export async function insertFirstKey(database: Database, key: NewKey & { userId: string }) {
  return await database.sql.begin(async (tx) => {
    await lockIdentity(tx)
    const any = await tx`select from identity.api_keys where user_id = ${key.userId} limit 1`
    if (any.length > 0) return false
    await insertKey(createApiKeyStore(database), tx, key)
    return true
  })
}
