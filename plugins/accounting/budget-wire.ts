import type { Directory } from 'model-gateway/identity'
import { type JsonObject, type Static, strictObject, Type } from 'model-gateway/plugin'
import { picoUsd, usd } from '../_shared/money.ts'
import { ownId } from '../_shared/own-id.ts'
import { Instant, invalidBody, nullable, oneOf } from '../_shared/schema.ts'
import {
  type Budget,
  type BudgetSettings,
  isExhausted,
  isLow,
  remaining,
  timezoneFault,
  used,
} from './budget.ts'
import type { WindowedBudget } from './budget-store.ts'
import { ownerName } from './owner-names.ts'
import { exhaustedBy, RECENT_DAYS } from './pace.ts'
import { type BudgetScope, ownerOf } from './scopes.ts'
import { cadences, startOfDay } from './window.ts'

/** Schemas of budgets in the admin API. */

export const Usd = (description: string) =>
  Type.String({ description: `${description}, USD`, examples: ['0.000213'] })

const id = Type.String({ minLength: 1, maxLength: 64 })
/** Text that Postgres accepts: no control characters and no lone surrogates. */
export const plainText = {
  maxLength: 256,
  pattern: '^([^\\u0000-\\u001f\\u007f\\ud800-\\udfff]|[\\ud800-\\udbff][\\udc00-\\udfff])*$',
}
const model = Type.String({ ...plainText, minLength: 1 })
const kinds = 'user, service_account or user_model'
export const Scope = Type.Union(
  [
    strictObject({ kind: Type.Literal('user'), user_id: id }),
    strictObject({ kind: Type.Literal('service_account'), service_account_id: id }),
    strictObject({ kind: Type.Literal('user_model'), user_id: id, model_id: model }),
    strictObject({ kind: Type.Literal('user_model'), user_id: id, upstream_model: model }),
  ],
  {
    errorMessage: `must be of kind ${kinds}: {kind: "user", user_id}, {kind: "service_account", service_account_id}, {kind: "user_model", user_id, model_id} or {kind: "user_model", user_id, upstream_model}, without other members`,
  },
)

export const Cadence = oneOf(cadences)

export const Amount = Type.String({
  pattern: '^(0|[1-9][0-9]{0,11})(\\.[0-9]{1,12})?$',
  description: 'USD per window: a quoted non-negative decimal with at most 12 decimal places.',
  examples: ['12.50'],
  errorMessage:
    'must be a quoted non-negative decimal with at most 12 decimal places, such as "12.50"',
})

/** The owner, and its name if the directory has it. */
export const ownerMembers = {
  owner_kind: oneOf(['user', 'service_account']),
  owner_id: Type.String(),
  owner_name: nullable(Type.String()),
}

export const BudgetItem = Type.Object({
  budget_id: Type.String(),
  scope: Scope,
  scope_key: Type.String(),
  ...ownerMembers,
  active: Type.Boolean({
    description:
      'false: deactivated (a tombstone). The config does not reactivate a budget with source manual',
  }),
  settings: nullable(
    Type.Object({
      cadence: Cadence,
      amount_usd: Type.String(),
      hard_limit: Type.Boolean(),
      unpriced: oneOf(['allow', 'refuse']),
      timezone: Type.String(),
    }),
  ),
  budget_source: oneOf([
    'manual',
    'config_user_override',
    'config_user_default',
    'config_user_model_default',
  ]),
  current_window_spend_usd: nullable(Usd('Sum of the ledger rows of the current window')),
  current_window_rejected_usd: nullable(Usd('Charges that the hard limit rejected')),
  remaining_usd: nullable(
    Usd('Remaining in the current window; negative if overspent. Hard limits count rejections'),
  ),
  recent_usd: nullable(
    Usd(`Used in the last ${RECENT_DAYS} days of the current window, including today`),
  ),
  projected_exhaustion_at: nullable(
    Type.String({
      format: 'date-time',
      description:
        'The hour at which the budget runs out at the recent pace; null: not in this window',
    }),
  ),
  window_start: nullable(Instant),
  window_end: nullable(Instant),
  exhausted: Type.Boolean({ description: 'true: calls are refused until the window ends' }),
  alert_ready: Type.Boolean({ description: 'true: at most 20 % of the budget is left' }),
  created_at: Instant,
  updated_at: Instant,
})

export function budgetItem(
  budget: WindowedBudget,
  directory: Directory,
  now: Date,
): Static<typeof BudgetItem> {
  const { active, settings, window } = budget
  const owner = ownerOf(budget.scope)
  const counts = active && window !== undefined
  return {
    budget_id: budget.budgetId,
    scope: wireScope(budget.scope),
    scope_key: budget.scopeKey,
    owner_kind: owner.kind,
    owner_id: owner.id,
    owner_name: ownerName(owner, directory),
    active,
    settings: settings === undefined ? null : wireSettings(settings),
    budget_source: budget.source,
    current_window_spend_usd: window === undefined ? null : usd(window.spent),
    current_window_rejected_usd: window === undefined ? null : usd(window.rejected),
    ...(settings === undefined || window === undefined
      ? { remaining_usd: null, recent_usd: null, projected_exhaustion_at: null }
      : {
          remaining_usd: usd(remaining(settings, window)),
          recent_usd: usd(used(settings, window.recent)),
          projected_exhaustion_at:
            (active && exhaustedBy(settings, window, now)?.toISOString()) || null,
        }),
    window_start: window === undefined ? null : startOfDay(window.start).toISOString(),
    window_end: window === undefined ? null : startOfDay(window.end).toISOString(),
    exhausted: counts && isExhausted(budget.settings, window),
    alert_ready: counts && isLow(budget.settings, window),
    created_at: budget.createdAt.toISOString(),
    updated_at: budget.updatedAt.toISOString(),
  }
}

export function wireScope(scope: BudgetScope): Static<typeof Scope> {
  const { kind } = scope
  if (kind === 'user') return { kind, user_id: scope.userId }
  if (kind === 'service_account') return { kind, service_account_id: scope.serviceAccountId }
  return 'modelId' in scope
    ? { kind, user_id: scope.userId, model_id: scope.modelId }
    : { kind, user_id: scope.userId, upstream_model: scope.upstreamModel }
}

/** Throws `validation_failed` for a blank upstream model. */
export function readScope(scope: Static<typeof Scope>): BudgetScope {
  const { kind } = scope
  if (kind === 'service_account') {
    return { kind, serviceAccountId: ownId(scope.service_account_id) }
  }
  const userId = ownId(scope.user_id)
  if (kind === 'user') return { kind, userId }
  if ('model_id' in scope) return { kind, userId, modelId: scope.model_id }
  const upstreamModel = scope.upstream_model.trim()
  if (upstreamModel === '') throw invalidBody('/scope/upstream_model', 'must not be blank')
  return { kind, userId, upstreamModel }
}

function wireSettings({ cadence, amountPicoUsd, hardLimit, unpriced, timezone }: BudgetSettings) {
  return { cadence, amount_usd: usd(amountPicoUsd), hard_limit: hardLimit, unpriced, timezone }
}

/** Throws `validation_failed` for an unknown time zone. */
export function readSettings(body: {
  readonly cadence: BudgetSettings['cadence']
  readonly amount_usd: string
  readonly hard_limit?: boolean
  readonly unpriced?: BudgetSettings['unpriced']
  readonly timezone?: string
}): BudgetSettings {
  const { cadence, amount_usd, hard_limit = true, unpriced = 'allow', timezone = 'UTC' } = body
  const fault = timezoneFault(timezone)
  if (fault !== undefined) throw invalidBody('/timezone', fault)
  const amountPicoUsd = picoUsd(amount_usd)
  return { cadence, amountPicoUsd, hardLimit: hard_limit, unpriced, timezone }
}

/** A budget in the audit log. */
export function budgetRecord({ scopeKey, source, active, settings }: Budget): JsonObject {
  return {
    scope_key: scopeKey,
    budget_source: source,
    active,
    settings: settings === undefined ? null : wireSettings(settings),
  }
}
