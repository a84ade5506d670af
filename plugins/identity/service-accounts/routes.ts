import {
  type AdminRoute,
  adminRoute,
  type BudgetWriter,
  listOf,
  pageQuery,
} from 'model-gateway/admin'
import { DecimalString, type Static, strictObject, Type } from 'model-gateway/plugin'
import type { KnownModels } from '../../_shared/model-names.ts'
import { Id } from '../../_shared/own-id.ts'
import { readPage } from '../../_shared/page.ts'
import { asView, Instant, invalidBody, oneOf } from '../../_shared/schema.ts'
import {
  accessColumns,
  accessView,
  Key,
  ModelAccess,
  ModelAccessView,
  missing,
  Name,
  notFound,
  Search,
} from '../_shared/fields.ts'
import { type MakeChange, rowExists, statesNothing, type Transaction } from '../_shared/store.ts'
import type { ServiceAccountRow, ServiceAccountStore } from './store.ts'

const Status = oneOf(['active', 'disabled'])

const Budget = strictObject({
  cadence: oneOf(['daily', 'weekly', 'monthly']),
  amount_usd: Type.Unsafe<string>({
    ...DecimalString(),
    errorMessage: 'must be a decimal in quotes with up to 12 decimal places, such as "12.50"',
  }),
  hard_limit: Type.Optional(Type.Boolean({ description: 'Default true.' })),
})

const ServiceAccountView = Type.Object({
  service_account_id: Type.String(),
  key: Type.String(),
  name: Type.String(),
  status: Status,
  team: Type.Object({ team_id: Type.String(), key: Type.String(), name: Type.String() }),
  model_access: ModelAccessView,
  from_config: Type.Boolean({
    description: 'Whether the config file declares the service account.',
  }),
  created_at: Instant,
  updated_at: Instant,
})

function viewOf(row: ServiceAccountRow): Static<typeof ServiceAccountView> {
  const team = { team_id: row.team_id, key: row.team_key, name: row.team_name }
  return asView(ServiceAccountView, { ...row, team, model_access: accessView(row) })
}

export interface ServiceAccountRouteParts {
  readonly store: ServiceAccountStore
  readonly change: MakeChange
  readonly models: () => KnownModels
  /** Absent: the gateway has no budgets. */
  readonly budgets: () => BudgetWriter | undefined
}

const accountParams = Type.Object({ service_account_id: Id })
const admin = { audience: 'platform_admin', tag: 'service accounts' } as const

export function serviceAccountRoutes(parts: ServiceAccountRouteParts): AdminRoute[] {
  const { store, change, models, budgets } = parts

  async function find(id: string, tx?: Transaction): Promise<ServiceAccountRow> {
    const row = await store.find(id, tx)
    if (row === undefined) throw notFound('service account')
    return row
  }

  async function requireTeam(tx: Transaction, id: string | undefined): Promise<void> {
    if (id !== undefined && !(await rowExists(tx, 'teams', id))) throw missing('team_id', 'team')
  }

  return [
    adminRoute({
      ...admin,
      method: 'GET',
      path: '/api/v1/admin/service-accounts',
      summary: 'List service accounts, by key.',
      query: strictObject({
        ...pageQuery,
        status: Type.Optional(Status),
        team_id: Type.Optional(Id),
        search: Type.Optional(Search),
      }),
      result: listOf(ServiceAccountView),
      handle: ({ query }) => readPage(query, (page) => store.list(query, page), viewOf),
    }),
    adminRoute({
      ...admin,
      method: 'GET',
      path: '/api/v1/admin/service-accounts/{service_account_id}',
      summary: 'Get one service account.',
      params: accountParams,
      result: ServiceAccountView,
      handle: async ({ params }) => viewOf(await find(params.service_account_id)),
    }),
    adminRoute({
      ...admin,
      method: 'POST',
      path: '/api/v1/admin/service-accounts',
      summary:
        'Create a service account. Its keys are rejected until it has an active budget: set one here, or at PUT /api/v1/admin/spend/budgets.',
      body: strictObject({
        key: Key,
        name: Name,
        team_id: Id,
        model_access: Type.Optional(ModelAccess),
        budget: Type.Optional(Budget),
      }),
      status: 201,
      result: ServiceAccountView,
      errors: ['not_found', 'conflict'],
      async handle({ body, caller, requestId }) {
        const { model_access, budget, ...own } = body
        const columns = { ...own, ...(model_access && accessColumns(model_access, models())) }
        const writer = budgets()
        if (budget !== undefined && writer === undefined) {
          throw invalidBody('/budget', 'this gateway has no plugin for budgets')
        }
        const made = await change({ caller, requestId }, async ({ sql, audit }) => {
          await requireTeam(sql, own.team_id)
          const id = Bun.randomUUIDv7()
          await store.insert(sql, id, columns)
          const after = viewOf(await find(id, sql))
          await audit({
            action: 'service_account.create',
            objectKind: 'service_account',
            objectId: id,
            after,
          })
          if (budget !== undefined) {
            const statement = { hard_limit: true, ...budget }
            await writer?.setServiceAccountBudget(sql, id, statement, { actor: caller, requestId })
          }
          return after
        })
        if (budget !== undefined) await writer?.committed()
        return made
      },
    }),
    adminRoute({
      ...admin,
      method: 'PATCH',
      path: '/api/v1/admin/service-accounts/{service_account_id}',
      summary: 'Change a service account. Disabling it rejects its keys at once.',
      params: accountParams,
      body: strictObject({
        name: Type.Optional(Name),
        team_id: Type.Optional(Id),
        status: Type.Optional(Status),
        model_access: Type.Optional(ModelAccess),
      }),
      result: ServiceAccountView,
      async handle({ params: { service_account_id: id }, body, caller, requestId }) {
        const { model_access, ...own } = body
        const columns = { ...own, ...(model_access && accessColumns(model_access, models())) }
        return await change({ caller, requestId }, async ({ sql, audit }) => {
          const before = viewOf(await find(id, sql))
          if (statesNothing(body)) return before
          await requireTeam(sql, own.team_id)
          const fields = Object.keys(body).map((name) => (name === 'team_id' ? 'team' : name))
          await store.update(sql, id, columns, fields)
          const after = viewOf(await find(id, sql))
          await audit({
            action: 'service_account.update',
            objectKind: 'service_account',
            objectId: id,
            before,
            after,
          })
          return after
        })
      },
    }),
  ]
}
