import {
  type AdminRoute,
  type AuditTrail,
  adminRoute,
  listOf,
  pageOf,
  pageQuery,
  type SessionCaller,
} from 'model-gateway/admin'
import { isWildcard } from 'model-gateway/host'
import type { Directory } from 'model-gateway/identity'
import { type Clock, GatewayError, strictObject, Type } from 'model-gateway/plugin'
import { callerOwner } from '../_shared/caller-owner.ts'
import { type Aliases, executedModel } from '../_shared/model-names.ts'
import { ownId } from '../_shared/own-id.ts'
import { invalidBody, oneOf } from '../_shared/schema.ts'
import type { Budget, BudgetEntry } from './budget.ts'
import type { BudgetFilter, BudgetStore } from './budget-store.ts'
import {
  Amount,
  BudgetItem,
  budgetItem,
  budgetRecord,
  Cadence,
  plainText,
  readScope,
  readSettings,
  Scope,
} from './budget-wire.ts'
import { type BudgetScope, ownerOf, scopeKey, WILDCARD_BUDGET } from './scopes.ts'
import { utcDay } from './window.ts'

export interface BudgetRoutesOptions {
  readonly store: BudgetStore
  readonly directory: () => Promise<Directory>
  /** Models of the active config. */
  readonly models: () => Aliases
  readonly audit: () => AuditTrail | undefined
  readonly clock: Clock
  /** Applies the change in this process. */
  readonly changed: () => Promise<void>
}

const tag = 'spend'

export function budgetRoutes(options: BudgetRoutesOptions): AdminRoute[] {
  const { store, directory, models, audit, clock, changed } = options

  async function list(filter: BudgetFilter, query: { page?: number; page_size?: number }) {
    const { page, page_size, offset } = pageOf(query)
    const now = clock.now()
    const [{ budgets, total }, known] = await Promise.all([
      store.list(filter, { limit: page_size, offset }, utcDay(now)),
      directory(),
    ])
    const items = budgets.map((budget) => budgetItem(budget, known, now))
    return { items, page, page_size, total }
  }

  async function change(
    scope: BudgetScope,
    plan: (existing: Budget | undefined) => BudgetEntry,
    by: { readonly caller: SessionCaller; readonly requestId: string; readonly action: string },
  ) {
    const key = scopeKey(scope)
    await store.change(key, plan, async (transaction, before, after) => {
      await audit()?.write(transaction, {
        actor: by.caller,
        requestId: by.requestId,
        action: by.action,
        objectKind: 'budget',
        objectId: after.budgetId,
        ...(before !== undefined && { before: budgetRecord(before) }),
        after: budgetRecord(after),
      })
    })
    await changed()
    const { items } = await list({ scopeKey: key }, {})
    const [item] = items
    if (item === undefined) throw new Error(`the budget of ${key} was not found after the change`)
    return item
  }

  async function requireOwner(scope: BudgetScope): Promise<void> {
    const { users, serviceAccounts } = await directory()
    const { kind, id } = ownerOf(scope)
    const owners: readonly { readonly id: string }[] = kind === 'user' ? users : serviceAccounts
    if (owners.some((owner) => owner.id === id)) return
    throw new GatewayError(
      'not_found',
      kind === 'user'
        ? `scope.user_id: user ${id} does not exist`
        : `scope.service_account_id: service account ${id} does not exist`,
    )
  }

  /**
   * Rejects wildcards, unknown models and aliases, because a budget applies to the executed model.
   */
  function requireModel(scope: BudgetScope): void {
    if (scope.kind !== 'user_model') return
    const [name, member] =
      'modelId' in scope ? [scope.modelId, 'model_id'] : [scope.upstreamModel, 'upstream_model']
    if (isWildcard(name)) throw invalidBody(`/scope/${member}`, WILDCARD_BUDGET)
    if (!('modelId' in scope)) return
    const target = executedModel(name, models())
    if (target === undefined) {
      throw new GatewayError('not_found', `scope.model_id: model ${name} does not exist`)
    }
    if (target !== name) {
      throw invalidBody(
        '/scope/model_id',
        `is an alias, and a budget applies to the model that it resolves to: use ${target}`,
      )
    }
  }

  return [
    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/spend/budgets',
      audience: 'platform_admin',
      tag,
      summary: 'Budgets, with the spend of their current windows.',
      query: strictObject({
        ...pageQuery,
        status: Type.Optional(
          oneOf(['active', 'inactive', 'all'], {
            description:
              'Default active. inactive: deactivated budgets (tombstones) and removed config defaults.',
          }),
        ),
        scope_kind: Type.Optional(oneOf(['user', 'service_account', 'user_model'])),
        budget_source: Type.Optional(BudgetItem.properties.budget_source),
        user_id: Type.Optional(Type.String(plainText)),
        service_account_id: Type.Optional(Type.String(plainText)),
        model_id: Type.Optional(Type.String(plainText)),
      }),
      result: listOf(BudgetItem),
      handle({ query }) {
        const { status = 'active', scope_kind, budget_source } = query
        const filter = {
          ...(status !== 'all' && { active: status === 'active' }),
          ...(scope_kind !== undefined && { scopeKind: scope_kind }),
          ...(budget_source !== undefined && { source: budget_source }),
          ...(query.user_id !== undefined && { userId: ownId(query.user_id) }),
          ...(query.service_account_id !== undefined && {
            serviceAccountId: ownId(query.service_account_id),
          }),
          ...(query.model_id !== undefined && { modelId: query.model_id }),
        }
        return list(filter, query)
      },
    }),

    adminRoute({
      method: 'PUT',
      path: '/api/v1/admin/spend/budgets',
      audience: 'platform_admin',
      tag,
      summary: 'Creates or replaces the budget of a scope.',
      body: strictObject({
        scope: Scope,
        cadence: Cadence,
        amount_usd: Amount,
        hard_limit: Type.Optional(Type.Boolean({ description: 'Default true.' })),
        unpriced: Type.Optional(
          oneOf(['allow', 'refuse'], {
            description:
              'Default allow. refuse: refuses calls as soon as the gateway knows that it cannot price them exactly.',
          }),
        ),
        timezone: Type.Optional(
          Type.String({
            maxLength: 64,
            description: 'Default UTC. Stored but not used: windows are in UTC.',
          }),
        ),
      }),
      result: BudgetItem,
      errors: ['not_found'],
      async handle({ body, caller, requestId }) {
        const scope = readScope(body.scope)
        const settings = readSettings(body)
        await requireOwner(scope)
        requireModel(scope)
        return await change(scope, () => ({ scope, source: 'manual', active: true, settings }), {
          caller,
          requestId,
          action: 'budget.set',
        })
      },
    }),

    adminRoute({
      method: 'POST',
      path: '/api/v1/admin/spend/budgets/deactivate',
      audience: 'platform_admin',
      tag,
      summary: 'Deactivates the budget of a scope. Defaults of the config do not replace it.',
      body: strictObject({ scope: Scope }),
      result: BudgetItem,
      errors: ['not_found'],
      async handle({ body, caller, requestId }) {
        const scope = readScope(body.scope)
        await requireOwner(scope)
        const tombstone = (existing: Budget | undefined): BudgetEntry => {
          if (existing === undefined) requireModel(scope)
          return { scope, source: 'manual', active: false, settings: existing?.settings }
        }
        return await change(scope, tombstone, { caller, requestId, action: 'budget.deactivate' })
      },
    }),

    adminRoute({
      method: 'GET',
      path: '/api/v1/me/budgets',
      audience: 'me',
      tag: 'me',
      summary: "The caller's own active budgets.",
      query: strictObject(pageQuery),
      result: listOf(BudgetItem),
      handle({ caller, query }) {
        const { kind, id } = callerOwner(caller)
        const owner = kind === 'user' ? { userId: id } : { serviceAccountId: id }
        return list({ active: true, ...owner }, query)
      },
    }),
  ]
}
