import { type AdminRoute, adminRoute } from 'model-gateway/admin'
import type { Directory } from 'model-gateway/identity'
import { type Clock, GatewayError, Type } from 'model-gateway/plugin'
import { usd } from '../_shared/money.ts'
import { Id } from '../_shared/own-id.ts'
import { remaining } from './budget.ts'
import type { BudgetStore, WindowedBudget } from './budget-store.ts'
import { BudgetItem, budgetItem, Usd } from './budget-wire.ts'
import { dayText, utcDay } from './window.ts'

export interface BurnDownRoutesOptions {
  readonly store: BudgetStore
  readonly directory: () => Promise<Directory>
  readonly clock: Clock
}

const BurnDown = Type.Object({
  budget: BudgetItem,
  days: Type.Array(
    Type.Object({
      day: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
      spent_usd: Usd('Sum of the ledger rows of the day'),
      rejected_usd: Usd('Charges of the day that the hard limit rejected'),
      remaining_usd: Usd('Remaining at the end of the day, or now for today'),
    }),
    { description: 'From the start of the current window to today' },
  ),
})

/** The route that reports the remaining amount of a budget day by day. */
export function burnDownRoutes({ store, directory, clock }: BurnDownRoutesOptions): AdminRoute[] {
  return [
    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/spend/budgets/{budget_id}/burn-down',
      audience: 'platform_admin',
      tag: 'spend',
      summary: 'One budget, with the remaining amount on each day of its current window.',
      params: Type.Object({ budget_id: Id }),
      result: BurnDown,
      async handle({ params }) {
        const now = clock.now()
        const [{ budgets }, known] = await Promise.all([
          store.list({ budgetId: params.budget_id }, { limit: 1, offset: 0 }, utcDay(now)),
          directory(),
        ])
        const [budget] = budgets
        if (budget === undefined) {
          throw new GatewayError('not_found', `budget ${params.budget_id} does not exist`)
        }
        const days = await daysOf(store, budget, now)
        return { budget: budgetItem(budget, known, now), days }
      },
    }),
  ]
}

async function daysOf(store: BudgetStore, budget: WindowedBudget, now: Date) {
  const { settings, window, scopeKey } = budget
  if (settings === undefined || window === undefined) return []
  const known = new Map((await store.days(scopeKey, window)).map((entry) => [entry.day, entry]))
  let spent = 0n
  let rejected = 0n
  return Array.from({ length: utcDay(now) + 1 - window.start }, (_, n) => {
    const day = window.start + n
    const entry = known.get(day)
    spent += entry?.spent ?? 0n
    rejected += entry?.rejected ?? 0n
    return {
      day: dayText(day),
      spent_usd: usd(entry?.spent ?? 0n),
      rejected_usd: usd(entry?.rejected ?? 0n),
      remaining_usd: usd(remaining(settings, { spent, rejected })),
    }
  })
}
