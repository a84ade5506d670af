import type { Data } from '@/api/query.ts'
import { usd } from '@/lib/format.ts'

type Budget = Data<'/api/v1/admin/spend/budgets'>['items'][number]

export const cadenceNames: Readonly<Record<string, string>> = {
  daily: '/ day',
  weekly: '/ week',
  monthly: '/ month',
}

/** `$0.40 left`, or `$0.10 over` if more than the amount was spent. */
export function leftText(remaining: string): string {
  return remaining.startsWith('-') ? `${usd(remaining.slice(1))} over` : `${usd(remaining)} left`
}

/** The used share of the amount; 1 for an amount of zero. */
export function usedShare({
  settings,
  remaining_usd,
}: Pick<Budget, 'settings' | 'remaining_usd'>): number {
  const amount = Number(settings?.amount_usd ?? 0)
  return amount === 0 ? 1 : 1 - Number(remaining_usd ?? 0) / amount
}

/** The models whose calls a budget counts. */
export function modelOf(scope: Budget['scope']): string {
  if (scope.kind !== 'user_model') return 'all models'
  return 'model_id' in scope ? scope.model_id : `upstream ${scope.upstream_model}`
}
