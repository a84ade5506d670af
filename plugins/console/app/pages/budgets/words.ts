import type { Data } from '@/api/query.ts'
import { oneOf, page, text } from '@/lib/filters.ts'

export type Budget = Data<'/api/v1/admin/spend/budgets'>['items'][number]
export type Alert = Data<'/api/v1/admin/spend/budget-alerts'>['items'][number]
export type Scope = Budget['scope']

export const filters = {
  view: oneOf(['budgets', 'alerts'], 'budgets'),
  status: oneOf(['active', 'inactive', 'all'], 'active'),
  scope_kind: oneOf(['', 'user', 'service_account', 'user_model'], ''),
  budget_source: oneOf(
    ['', 'manual', 'config_user_override', 'config_user_default', 'config_user_model_default'],
    '',
  ),
  user_id: text,
  service_account_id: text,
  alert_status: oneOf(['', 'pending', 'sent', 'failed'], ''),
  /** A new budget for whom the filters name. */
  new: oneOf(['no', 'yes'], 'no'),
  page,
}

export const sourceNames: Readonly<Record<Budget['budget_source'], string>> = {
  manual: 'manual',
  config_user_override: 'config, own',
  config_user_default: 'config default',
  config_user_model_default: 'config default of a model',
}

export const cadenceNames = { daily: 'a day', weekly: 'a week', monthly: 'a month' } as const

/** Whom the filters name. */
export function chosenOwner(values: {
  readonly user_id: string
  readonly service_account_id: string
}) {
  const { user_id, service_account_id } = values
  if (user_id !== '') return { kind: 'user', id: user_id } as const
  if (service_account_id === '') return undefined
  return { kind: 'service_account', id: service_account_id } as const
}

/** Which calls a budget counts, beside whose they are. */
export function modelOf(scope: Scope): string {
  if (scope.kind !== 'user_model') return 'all models'
  return 'model_id' in scope ? scope.model_id : `upstream ${scope.upstream_model}`
}

export function ownerName({ owner_name, owner_kind }: Pick<Budget, 'owner_name' | 'owner_kind'>) {
  return owner_name ?? (owner_kind === 'user' ? 'deleted user' : 'deleted service account')
}

/** How much of the amount is gone; 1 for an amount of zero. */
export function usedShare({ settings, remaining_usd }: Budget): number {
  const amount = Number(settings?.amount_usd ?? 0)
  return amount === 0 ? 1 : 1 - Number(remaining_usd ?? 0) / amount
}

/** Filters of the requests that a budget counts in its current window. */
export function requestsOf(budget: Budget): Record<string, string> {
  return {
    [`${budget.owner_kind}_id`]: budget.owner_id,
    ...(budget.window_start !== null && { occurred_at_start: budget.window_start }),
  }
}
