import type { Database } from 'model-gateway/plugin'
import type { Page, Rows } from '../../_shared/page.ts'
import { insertRow, type RowStore, type Transaction, updateRow } from '../_shared/store.ts'

export interface ApiKeyRow {
  readonly api_key_id: string
  readonly public_id: string
  readonly name: string
  readonly user_id: string | null
  readonly service_account_id: string | null
  readonly owner_name: string
  readonly email: string
  readonly service_account_key: string
  readonly model_grant_mode: 'explicit' | 'all'
  readonly granted_models: string[]
  readonly mcp_servers: string[] | null
  readonly expires_at: Date | null
  readonly last_used_at: Date | null
  readonly revoked_at: Date | null
  readonly rotated_at: Date | null
  readonly previous_until: Date | null
  readonly from_config: boolean
  readonly created_at: Date
}

export type KeyState = 'active' | 'expired' | 'revoked'

export interface ApiKeyColumns {
  readonly public_id?: string
  readonly secret_hash?: string
  readonly name?: string
  readonly user_id?: string | null
  readonly service_account_id?: string | null
  readonly model_grant_mode?: 'explicit' | 'all'
  readonly granted_models?: string[]
  readonly mcp_servers?: string[] | null
  readonly expires_at?: Date | null
  readonly revoked_at?: Date
}

export interface ApiKeyStore extends RowStore<ApiKeyRow, ApiKeyColumns> {
  list(
    filter: {
      readonly user_id?: string
      readonly service_account_id?: string
      readonly status?: KeyState
      readonly search?: string
    },
    page: Page,
    now: Date,
  ): Promise<Rows<ApiKeyRow>>
  /** Sets a new secret; the previous one stays valid until `previousUntil`. */
  rotate(
    tx: Transaction,
    id: string,
    secretHash: string,
    at: Date,
    previousUntil: Date,
  ): Promise<void>
}

export function createApiKeyStore({ sql }: Database): ApiKeyStore {
  const columns = () => sql`
    k.id as api_key_id, k.public_id, k.name, k.user_id, k.service_account_id,
    coalesce(u.name, s.name) as owner_name, u.email, s.key as service_account_key,
    k.model_grant_mode, k.granted_models, k.mcp_servers, k.expires_at, k.last_used_at, k.revoked_at, k.rotated_at,
    k.previous_until, k.config_hash is not null as from_config, k.created_at`
  const from = () => sql`
    from identity.api_keys k left join identity.users u on u.id = k.user_id
      left join identity.service_accounts s on s.id = k.service_account_id`

  return {
    async list({ user_id, service_account_id, status, search }, { offset, page_size }, now) {
      const states = {
        revoked: sql`and k.revoked_at is not null`,
        expired: sql`and k.revoked_at is null and k.expires_at <= ${now}`,
        active: sql`and k.revoked_at is null and (k.expires_at is null or k.expires_at > ${now})`,
      }
      const where = sql`
        where true
        ${user_id === undefined ? sql`` : sql`and k.user_id = ${user_id}`}
        ${
          service_account_id === undefined
            ? sql``
            : sql`and k.service_account_id = ${service_account_id}`
        }
        ${status === undefined ? sql`` : states[status]}
        ${
          search === undefined
            ? sql``
            : sql`and (position(lower(${search}) in lower(k.name)) > 0
                or position(lower(${search}) in 'gwk_' || k.public_id) > 0)`
        }`
      const [count] = await sql<{ total: bigint }[]>`select count(*) as total ${from()} ${where}`
      const rows = await sql<ApiKeyRow[]>`
        select ${columns()} ${from()} ${where}
        order by k.created_at desc, k.id desc limit ${page_size} offset ${offset}`
      return { rows, total: Number(count?.total ?? 0) }
    },
    async find(id, tx) {
      const [row] = await (tx ?? sql)<ApiKeyRow[]>`select ${columns()} ${from()} where k.id = ${id}`
      return row
    },
    insert: (tx, id, set) => insertRow(tx, 'api_keys', { id, ...set }),
    update: (tx, id, set, fields) => updateRow(tx, 'api_keys', id, set, fields),
    async rotate(tx, id, secretHash, at, previousUntil) {
      await tx`
        update identity.api_keys set previous_secret_hash = secret_hash,
          previous_until = ${previousUntil}, secret_hash = ${secretHash}, rotated_at = ${at},
          updated_at = now()
        where id = ${id}`
    },
  }
}
