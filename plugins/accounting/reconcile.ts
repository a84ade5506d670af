import type { Problem } from 'model-gateway/plugin'
import type { Budget, BudgetEntry, BudgetSettings, BudgetSource } from './budget.ts'
import { type BudgetConfig, type BudgetsConfig, budgetSettings } from './config.ts'
import { type BudgetScope, scopeKey } from './scopes.ts'

/** The budgets in the config. */
export interface ConfiguredBudgets {
  readonly budgets: BudgetsConfig
  readonly users: readonly { readonly email: string; readonly budget?: BudgetConfig }[]
  readonly serviceAccounts: readonly { readonly key: string; readonly budget: BudgetConfig }[]
}

/** Possible owners of budgets. */
export interface Owners {
  readonly users: readonly { readonly id: string; readonly email: string }[]
  readonly serviceAccounts: readonly { readonly id: string; readonly key: string }[]
}

interface Wanted {
  readonly scope: BudgetScope
  readonly source: BudgetSource
  readonly settings: BudgetSettings
  /** Path of the owner's budget in the config. */
  readonly path?: Problem['path']
}

/**
 * Computes the entries to write so that config budgets match the config. Budgets and tombstones of
 * administrators stay unchanged, and so do entries of owners that left the config. Pure function.
 */
export function reconcileBudgets(
  config: ConfiguredBudgets,
  directory: Owners,
  existing: readonly Budget[],
): { readonly entries: readonly BudgetEntry[]; readonly warnings: readonly Problem[] } {
  const wanted = wantedBudgets(config, directory)
  const entries: BudgetEntry[] = []
  const warnings: Problem[] = []
  const kept = new Map(existing.map((budget) => [budget.scopeKey, budget]))
  const gone = ownersWithoutEntry(config, directory)
  const stays = ({ scopeKey: key, source }: Pick<Budget, 'scopeKey' | 'source'>) =>
    source === 'config_user_override' && gone.has(key)

  for (const [key, { scope, source, settings, path }] of wanted) {
    const budget = kept.get(key)
    if (budget?.source === 'manual') {
      const differs = !budget.active || !sameSettings(budget.settings, settings)
      if (path !== undefined && differs) {
        const message = budget.active
          ? 'has no effect, because an administrator has set another budget'
          : 'has no effect, because an administrator has deactivated the budget'
        warnings.push({ path, message, severity: 'warning' })
      }
    } else if (budget?.active && stays(budget)) {
      // The owner's budget takes precedence over the default.
    } else if (
      budget?.source !== source ||
      !budget.active ||
      !sameSettings(budget.settings, settings)
    ) {
      entries.push({ scope, source, active: true, settings })
    }
  }
  for (const { scopeKey: key, scope, source, active, settings } of existing) {
    if (!active || source === 'manual' || wanted.has(key)) continue
    if (!stays({ scopeKey: key, source })) entries.push({ scope, source, active: false, settings })
  }
  return { entries, warnings }
}

/** By scope key; an entry for one user overrides the default for all. */
function wantedBudgets(config: ConfiguredBudgets, directory: Owners): Map<string, Wanted> {
  const wanted = new Map<string, Wanted>()
  const want = (entry: Wanted) => wanted.set(scopeKey(entry.scope), entry)
  const { default: all, model_defaults } = config.budgets.users
  const userIds = new Map(directory.users.map(({ id, email }) => [email, id]))
  const accountIds = new Map(directory.serviceAccounts.map(({ id, key }) => [key, id]))
  const models = model_defaults.map(({ model, budget }) => ({
    modelId: model,
    settings: budgetSettings(budget),
  }))
  const settingsOfAll = all && budgetSettings(all)

  for (const { id: userId } of directory.users) {
    if (settingsOfAll !== undefined) {
      const scope = { kind: 'user', userId } as const
      want({ scope, source: 'config_user_default', settings: settingsOfAll })
    }
    for (const { modelId, settings } of models) {
      const scope = { kind: 'user_model', userId, modelId } as const
      want({ scope, source: 'config_user_model_default', settings })
    }
  }
  for (const [index, { email, budget }] of config.users.entries()) {
    const userId = userIds.get(email.toLowerCase())
    if (budget === undefined || userId === undefined) continue
    want({
      scope: { kind: 'user', userId },
      source: 'config_user_override',
      settings: budgetSettings(budget),
      path: ['users', index, 'budget'],
    })
  }
  for (const [index, { key, budget }] of config.serviceAccounts.entries()) {
    const serviceAccountId = accountIds.get(key)
    if (serviceAccountId === undefined) continue
    want({
      scope: { kind: 'service_account', serviceAccountId },
      source: 'config_user_override',
      settings: budgetSettings(budget),
      path: ['service_accounts', index, 'budget'],
    })
  }
  return wanted
}

/** Scope keys of owners that the config does not mention. */
function ownersWithoutEntry(config: ConfiguredBudgets, directory: Owners): Set<string> {
  const emails = new Set(config.users.map(({ email }) => email.toLowerCase()))
  const keys = new Set(config.serviceAccounts.map(({ key }) => key))
  return new Set([
    ...directory.users
      .filter(({ email }) => !emails.has(email))
      .map(({ id }) => scopeKey({ kind: 'user', userId: id })),
    ...directory.serviceAccounts
      .filter(({ key }) => !keys.has(key))
      .map(({ id }) => scopeKey({ kind: 'service_account', serviceAccountId: id })),
  ])
}

function sameSettings(a: BudgetSettings | undefined, b: BudgetSettings): boolean {
  return (
    a !== undefined &&
    a.cadence === b.cadence &&
    a.amountPicoUsd === b.amountPicoUsd &&
    a.hardLimit === b.hardLimit &&
    a.unpriced === b.unpriced &&
    a.timezone === b.timezone
  )
}
