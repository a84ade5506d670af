import type { Database } from 'model-gateway/plugin'
import type { Page, Rows } from '../../_shared/page.ts'
import { insertRow, type RowStore, updateRow } from '../_shared/store.ts'

export interface ServiceAccountRow {
  readonly service_account_id: string
  readonly key: string
  readonly name: string
  readonly status: 'active' | 'disabled'
  readonly team_id: string
  readonly team_key: string
  readonly team_name: string
  readonly model_access_mode: 'all' | 'restricted'
  readonly allowed_models: string[]
  readonly from_config: boolean
  readonly created_at: Date
  readonly updated_at: Date
}

export type ServiceAccountColumns = Partial<
  Pick<
    ServiceAccountRow,
    'key' | 'name' | 'status' | 'team_id' | 'model_access_mode' | 'allowed_models'
  >
>

export interface ServiceAccountStore extends RowStore<ServiceAccountRow, ServiceAccountColumns> {
  list(
    filter: {
      readonly status?: ServiceAccountRow['status']
      readonly team_id?: string
      readonly search?: string
    },
    page: Page,
  ): Promise<Rows<ServiceAccountRow>>
}

export function createServiceAccountStore({ sql }: Database): ServiceAccountStore {
  const columns = () => sql`
    s.id as service_account_id, s.key, s.name, s.status, t.id as team_id, t.key as team_key,
    t.name as team_name, s.model_access_mode, s.allowed_models,
    s.config_hash is not null as from_config, s.created_at, s.updated_at`
  const from = () => sql`
    from identity.service_accounts s join identity.teams t on t.id = s.team_id`

  return {
    async list({ status, team_id, search }, { offset, page_size }) {
      const where = sql`
        where true
        ${status === undefined ? sql`` : sql`and s.status = ${status}`}
        ${team_id === undefined ? sql`` : sql`and s.team_id = ${team_id}`}
        ${
          search === undefined
            ? sql``
            : sql`and (position(lower(${search}) in lower(s.name)) > 0
                or position(lower(${search}) in s.key) > 0)`
        }`
      const [count] = await sql<{ total: bigint }[]>`select count(*) as total ${from()} ${where}`
      const rows = await sql<ServiceAccountRow[]>`
        select ${columns()} ${from()} ${where}
        order by s.key limit ${page_size} offset ${offset}`
      return { rows, total: Number(count?.total ?? 0) }
    },
    async find(id, tx) {
      const [row] = await (tx ?? sql)<ServiceAccountRow[]>`
        select ${columns()} ${from()} where s.id = ${id}`
      return row
    },
    insert: (tx, id, set) => insertRow(tx, 'service_accounts', { id, ...set }),
    update: (tx, id, set, fields) => updateRow(tx, 'service_accounts', id, set, fields),
  }
}
