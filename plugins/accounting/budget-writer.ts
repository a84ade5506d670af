import type { AuditTrail, BudgetWriter } from 'model-gateway/admin'
import type { BudgetStore } from './budget-store.ts'
import { budgetRecord, readSettings } from './budget-wire.ts'
import { scopeKey } from './scopes.ts'

/** Writes the budget of a service account in the transaction that creates the account. */
export function createBudgetWriter(options: {
  readonly store: Pick<BudgetStore, 'insert'>
  readonly audit: () => AuditTrail | undefined
  readonly changed: () => Promise<void>
}): BudgetWriter {
  return {
    async setServiceAccountBudget(sql, serviceAccountId, budget, by) {
      const scope = { kind: 'service_account', serviceAccountId } as const
      const settings = readSettings(budget)
      const entry = { scope, source: 'manual', active: true, settings } as const
      const after = await options.store.insert(sql, scopeKey(scope), entry)
      await options.audit()?.write(sql, {
        ...by,
        action: 'budget.set',
        objectKind: 'budget',
        objectId: after.budgetId,
        after: budgetRecord(after),
      })
    },
    committed: options.changed,
  }
}
