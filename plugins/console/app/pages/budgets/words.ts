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
  /** `yes` opens the form for a new budget of the owner in the filters. */
  new: oneOf(['no', 'yes'], 'no'),
  page,
}

export const sourceNames: Readonly<Record<Budget['budget_source'], string>> = {
  manual: 'manual',
  config_user_override: 'config (owner)',
  config_user_default: 'config default',
  config_user_model_default: 'config default (model)',
}

export function ownerName({ owner_name, owner_kind }: Pick<Budget, 'owner_name' | 'owner_kind'>) {
  return owner_name ?? (owner_kind === 'user' ? 'deleted user' : 'deleted service account')
}

/** Filters for the requests that the budget counts in its current window. */
export function requestsOf(budget: Budget): Record<string, string> {
  return {
    [`${budget.owner_kind}_id`]: budget.owner_id,
    ...(budget.window_start !== null && { occurred_at_start: budget.window_start }),
  }
}
