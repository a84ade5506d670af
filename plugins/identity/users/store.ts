import type { Database } from 'model-gateway/plugin'
import type { Page, Rows } from '../../_shared/page.ts'
import { insertRow, type RowStore, updateRow } from '../_shared/store.ts'

export interface UserRow {
  readonly user_id: string
  readonly name: string
  readonly email: string
  readonly role: 'platform_admin' | 'user'
  readonly status: 'active' | 'invited' | 'disabled'
  readonly request_logging_enabled: boolean
  readonly model_access_mode: 'all' | 'restricted'
  readonly allowed_models: string[]
  readonly team_id: string | null
  readonly team_key: string
  readonly team_name: string
  readonly team_role: 'owner' | 'admin' | 'member'
  readonly has_password: boolean
  readonly from_config: boolean
  readonly created_at: Date
  readonly updated_at: Date
}

export interface UserFilter {
  readonly status?: UserRow['status']
  readonly role?: UserRow['role']
  readonly team_id?: string
  readonly search?: string
}

/** Columns of `users` that can be written; names as in the database. */
export type UserColumns = Partial<
  Pick<
    UserRow,
    | 'name'
    | 'email'
    | 'role'
    | 'status'
    | 'request_logging_enabled'
    | 'model_access_mode'
    | 'allowed_models'
  >
>

export interface UserStore extends RowStore<UserRow, UserColumns> {
  list(filter: UserFilter, page: Page): Promise<Rows<UserRow>>
}

export function createUserStore({ sql }: Database): UserStore {
  const from = () => sql`
    from identity.users u
      left join identity.team_memberships m on m.user_id = u.id
      left join identity.teams t on t.id = m.team_id`
  const columns = () => sql`
    u.id as user_id, u.name, u.email, u.role, u.status, u.request_logging_enabled,
    u.model_access_mode, u.allowed_models, t.id as team_id, t.key as team_key,
    t.name as team_name, m.role as team_role, u.config_hash is not null as from_config,
    exists (select from identity.user_passwords p where p.user_id = u.id) as has_password,
    u.created_at, u.updated_at`

  return {
    async list({ status, role, team_id, search }, { offset, page_size }) {
      const where = sql`
        where true
        ${status === undefined ? sql`` : sql`and u.status = ${status}`}
        ${role === undefined ? sql`` : sql`and u.role = ${role}`}
        ${team_id === undefined ? sql`` : sql`and m.team_id = ${team_id}`}
        ${
          search === undefined
            ? sql``
            : sql`and (position(lower(${search}) in lower(u.name)) > 0
                or position(lower(${search}) in u.email) > 0)`
        }`
      const [count] = await sql<{ total: bigint }[]>`select count(*) as total ${from()} ${where}`
      const rows = await sql<UserRow[]>`
        select ${columns()} ${from()} ${where}
        order by u.email limit ${page_size} offset ${offset}`
      return { rows, total: Number(count?.total ?? 0) }
    },
    async find(id, tx) {
      const [row] = await (tx ?? sql)<UserRow[]>`select ${columns()} ${from()} where u.id = ${id}`
      return row
    },
    insert: (tx, id, set) => insertRow(tx, 'users', { id, ...set }),
    update: (tx, id, set, fields) => updateRow(tx, 'users', id, set, fields),
  }
}
