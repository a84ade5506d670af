import type { Database } from 'model-gateway/plugin'
import type { Page, Rows } from '../../_shared/page.ts'
import { insertRow, type RowStore, setTeam, type Transaction, updateRow } from '../_shared/store.ts'

export interface TeamRow {
  readonly team_id: string
  readonly key: string
  readonly name: string
  readonly model_access_mode: 'all' | 'restricted'
  readonly allowed_models: string[]
  readonly member_count: number
  readonly service_account_count: number
  readonly from_config: boolean
  readonly created_at: Date
  readonly updated_at: Date
}

export interface MemberRow {
  readonly user_id: string
  readonly name: string
  readonly email: string
  readonly status: 'active' | 'invited' | 'disabled'
  readonly role: 'owner' | 'admin' | 'member'
}

export type TeamColumns = Partial<
  Pick<TeamRow, 'key' | 'name' | 'model_access_mode' | 'allowed_models'>
>

export interface TeamStore extends RowStore<TeamRow, TeamColumns> {
  list(filter: { readonly search?: string }, page: Page): Promise<Rows<TeamRow>>
  remove(tx: Transaction, id: string): Promise<void>
  listMembers(id: string, page: Page): Promise<Rows<MemberRow>>
  /** The team of a user and the role in it; `undefined` if the user does not exist. */
  findMembership(
    tx: Transaction,
    userId: string,
  ): Promise<
    | {
        readonly team_id: string | null
        readonly team_key: string
        readonly role: MemberRow['role']
      }
    | undefined
  >
  findMember(tx: Transaction, userId: string): Promise<MemberRow | undefined>
  setMember(tx: Transaction, id: string, userId: string, role: MemberRow['role']): Promise<void>
  removeMember(tx: Transaction, userId: string): Promise<void>
}

export function createTeamStore({ sql }: Database): TeamStore {
  const columns = () => sql`
    t.id as team_id, t.key, t.name, t.model_access_mode, t.allowed_models,
    (select count(*)::int from identity.team_memberships m where m.team_id = t.id) as member_count,
    (select count(*)::int from identity.service_accounts s where s.team_id = t.id)
      as service_account_count,
    t.config_hash is not null as from_config, t.created_at, t.updated_at`
  /** Marks the team of a user as set by an administrator, so that the config file cannot change it. */
  const keepTeam = (tx: Transaction, userId: string) => updateRow(tx, 'users', userId, {}, ['team'])

  return {
    async list({ search }, { offset, page_size }) {
      const where =
        search === undefined
          ? sql``
          : sql`where position(lower(${search}) in lower(t.name)) > 0
              or position(lower(${search}) in t.key) > 0`
      const [count] = await sql<{ total: bigint }[]>`
        select count(*) as total from identity.teams t ${where}`
      const rows = await sql<TeamRow[]>`
        select ${columns()} from identity.teams t ${where}
        order by t.key limit ${page_size} offset ${offset}`
      return { rows, total: Number(count?.total ?? 0) }
    },
    async find(id, tx) {
      const [row] = await (tx ?? sql)<TeamRow[]>`
        select ${columns()} from identity.teams t where t.id = ${id}`
      return row
    },
    insert: (tx, id, set) => insertRow(tx, 'teams', { id, ...set }),
    update: (tx, id, set, fields) => updateRow(tx, 'teams', id, set, fields),
    async remove(tx, id) {
      await tx`delete from identity.teams where id = ${id}`
    },
    async listMembers(id, { offset, page_size }) {
      const [count] = await sql<{ total: bigint }[]>`
        select count(*) as total from identity.team_memberships where team_id = ${id}`
      const rows = await sql<MemberRow[]>`
        select u.id as user_id, u.name, u.email, u.status, m.role
        from identity.team_memberships m join identity.users u on u.id = m.user_id
        where m.team_id = ${id} order by u.email limit ${page_size} offset ${offset}`
      return { rows, total: Number(count?.total ?? 0) }
    },
    async findMembership(tx, userId) {
      const [row] = await tx<
        { team_id: string | null; team_key: string; role: MemberRow['role'] }[]
      >`
        select t.id as team_id, t.key as team_key, m.role
        from identity.users u left join identity.team_memberships m on m.user_id = u.id
          left join identity.teams t on t.id = m.team_id
        where u.id = ${userId}`
      return row
    },
    async findMember(tx, userId) {
      const [row] = await tx<MemberRow[]>`
        select u.id as user_id, u.name, u.email, u.status, m.role
        from identity.team_memberships m join identity.users u on u.id = m.user_id
        where u.id = ${userId}`
      return row
    },
    async setMember(tx, id, userId, role) {
      await keepTeam(tx, userId)
      await setTeam(tx, userId, { team_id: id, role })
    },
    async removeMember(tx, userId) {
      await keepTeam(tx, userId)
      await setTeam(tx, userId, null)
    },
  }
}
