import type { Database } from 'model-gateway/plugin'
import { lockIdentity, type Transaction } from './_shared/store.ts'
import { type ApiKeyColumns, type ApiKeyRow, createApiKeyStore } from './api-keys/store.ts'

/**
 * The owner of a key: the id of the user with this e-mail, or of the service account with this key.
 */
export type OwnerName =
  | { readonly kind: 'user'; readonly email: string }
  | { readonly kind: 'service_account'; readonly key: string }

export interface OwnerIds {
  readonly user_id: string | null
  readonly service_account_id: string | null
}

export async function findOwner(
  { sql }: Database,
  owner: OwnerName,
): Promise<OwnerIds | undefined> {
  const [row] =
    owner.kind === 'user'
      ? await sql<OwnerIds[]>`
          select id as user_id, null as service_account_id
          from identity.users where email = ${owner.email.toLowerCase()}`
      : await sql<OwnerIds[]>`
          select null as user_id, id as service_account_id
          from identity.service_accounts where key = ${owner.key}`
  return row
}

/** Inserts the key and its audit entry. */
export async function issueKey(
  database: Database,
  key: ApiKeyColumns,
  also: (sql: Transaction, row: ApiKeyRow) => Promise<void>,
): Promise<void> {
  const store = createApiKeyStore(database)
  await database.sql.begin(async (tx) => {
    await lockIdentity(tx)
    const id = Bun.randomUUIDv7()
    await store.insert(tx, id, key)
    const row = await store.find(id, tx)
    if (row === undefined) throw new Error('the key is missing after it was inserted')
    await also(tx, row)
  })
}

/** Inserts the key unless the user has any key already, in whatever state; then returns false. */
export async function insertFirstKey(
  database: Database,
  key: ApiKeyColumns & { readonly user_id: string },
): Promise<boolean> {
  return await database.sql.begin(async (tx) => {
    await lockIdentity(tx)
    const any = await tx`select from identity.api_keys where user_id = ${key.user_id} limit 1`
    if (any.length > 0) return false
    await createApiKeyStore(database).insert(tx, Bun.randomUUIDv7(), key)
    return true
  })
}
