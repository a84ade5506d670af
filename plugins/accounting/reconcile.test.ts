import { describe, expect, test } from 'bun:test'
import type { Budget, BudgetEntry, BudgetSettings } from './budget.ts'
import type { BudgetConfig } from './config.ts'
import { type ConfiguredBudgets, reconcileBudgets } from './reconcile.ts'
import { scopeKey } from './scopes.ts'

const daily = (amount_usd: string): BudgetConfig => ({
  cadence: 'daily',
  amount_usd,
  hard_limit: true,
  unpriced: 'allow',
  timezone: 'UTC',
})
const settings = (usd: bigint): BudgetSettings => ({
  cadence: 'daily' as const,
  amountPicoUsd: usd * 10n ** 12n,
  hardLimit: true,
  unpriced: 'allow',
  timezone: 'UTC',
})

const directory = {
  users: [
    { id: 'u1', email: 'ada@example.com' },
    { id: 'u2', email: 'bob@example.com' },
  ],
  serviceAccounts: [{ id: 's1', key: 'nightly' }],
}
const ada = { kind: 'user', userId: 'u1' } as const
const bob = { kind: 'user', userId: 'u2' } as const
const nightly = { kind: 'service_account', serviceAccountId: 's1' } as const

function config(changes: {
  all?: BudgetConfig
  models?: { model: string; budget: BudgetConfig }[]
  ada?: BudgetConfig
  users?: ConfiguredBudgets['users']
  serviceAccounts?: ConfiguredBudgets['serviceAccounts']
}): ConfiguredBudgets {
  return {
    budgets: {
      users: { ...(changes.all && { default: changes.all }), model_defaults: changes.models ?? [] },
    },
    users: changes.users ?? [
      { email: 'Ada@example.com', ...(changes.ada && { budget: changes.ada }) },
      { email: 'bob@example.com' },
    ],
    serviceAccounts: changes.serviceAccounts ?? [],
  }
}

const kept = (...entries: BudgetEntry[]): Budget[] =>
  entries.map((entry, n) => ({ ...entry, budgetId: `b${n}`, scopeKey: scopeKey(entry.scope) }))

/** Applies a config to existing budgets, and checks that applying it again writes nothing. */
function reconcile(configured: ConfiguredBudgets, existing: readonly Budget[] = []) {
  const { entries, warnings } = reconcileBudgets(configured, directory, existing)
  const after = new Map(existing.map((budget) => [budget.scopeKey, budget]))
  for (const budget of kept(...entries)) after.set(budget.scopeKey, budget)
  expect(reconcileBudgets(configured, directory, [...after.values()]).entries).toEqual([])
  return { entries, warnings }
}

const entry = (
  scope: BudgetEntry['scope'],
  source: BudgetEntry['source'],
  usd: bigint,
): BudgetEntry => ({ scope, source, active: true, settings: settings(usd) })
const inactive = (budget: BudgetEntry): BudgetEntry => ({ ...budget, active: false })

describe('the config creates budgets', () => {
  test('for all users, for models, for one user and for service accounts', () => {
    const { entries } = reconcile(
      config({
        all: daily('1'),
        models: [{ model: 'm', budget: daily('2') }],
        ada: daily('3'),
        serviceAccounts: [{ key: 'nightly', budget: daily('4') }],
      }),
    )
    expect(entries).toEqual(
      expect.arrayContaining([
        entry(ada, 'config_user_override', 3n),
        entry(bob, 'config_user_default', 1n),
        entry({ kind: 'user_model', userId: 'u1', modelId: 'm' }, 'config_user_model_default', 2n),
        entry({ kind: 'user_model', userId: 'u2', modelId: 'm' }, 'config_user_model_default', 2n),
        entry(nightly, 'config_user_override', 4n),
      ]),
    )
    expect(entries).toHaveLength(5)
  })

  test('and none for unknown owners', () => {
    const unknown = { email: 'who@example.com', budget: daily('1') }
    expect(reconcile(config({ users: [unknown] })).entries).toEqual([])
  })
})

describe('a budget of the config', () => {
  test('that is unchanged is not written again', () => {
    const existing = kept(
      entry(ada, 'config_user_default', 1n),
      entry(bob, 'config_user_default', 1n),
    )
    expect(reconcile(config({ all: daily('1.00') }), existing).entries).toEqual([])
  })

  test('follows a change, and is removed with its default', () => {
    const existing = kept(
      entry(ada, 'config_user_default', 1n),
      entry(bob, 'config_user_default', 1n),
    )
    expect(reconcile(config({ all: daily('2') }), existing).entries).toEqual([
      entry(ada, 'config_user_default', 2n),
      entry(bob, 'config_user_default', 2n),
    ])
    expect(reconcile(config({}), existing).entries).toEqual(existing.map(inactiveEntry))
  })

  test.each<[string, Partial<BudgetConfig>]>([
    ['window', { cadence: 'weekly' }],
    ['limit', { hard_limit: false }],
    ['time zone', { timezone: 'Europe/Berlin' }],
  ])('follows a change of only its %s', (_, change) => {
    const existing = kept(entry(ada, 'config_user_override', 9n))
    const { entries } = reconcile(config({ ada: { ...daily('9'), ...change } }), existing)
    expect(entries).toHaveLength(1)
  })

  test('by default is removed with its default if its owner is not in the file', () => {
    const existing = kept(entry(ada, 'config_user_default', 1n))
    const bobOnly = { users: [{ email: 'bob@example.com' }] }
    expect(reconcile(config(bobOnly), existing).entries).toEqual(existing.map(inactiveEntry))
  })

  test('of one user overrides the default, and is replaced by it when removed', () => {
    const both = config({ all: daily('1'), ada: daily('9') })
    const byDefault = kept(
      entry(ada, 'config_user_default', 1n),
      entry(bob, 'config_user_default', 1n),
    )
    expect(reconcile(both, byDefault).entries).toEqual([entry(ada, 'config_user_override', 9n)])
    const own = kept(entry(ada, 'config_user_override', 9n), entry(bob, 'config_user_default', 1n))
    expect(reconcile(config({ all: daily('1') }), own).entries).toEqual([
      entry(ada, 'config_user_default', 1n),
    ])
    expect(reconcile(config({}), kept(entry(ada, 'config_user_override', 9n))).entries).toEqual([
      inactive(entry(ada, 'config_user_override', 9n)),
    ])
  })

  test('returns with the config', () => {
    const gone = kept(inactive(entry(ada, 'config_user_override', 9n)))
    expect(reconcile(config({ ada: daily('9') }), gone).entries).toEqual([
      entry(ada, 'config_user_override', 9n),
    ])
  })

  test('that was removed does not block the defaults, after its owner left the file', () => {
    const gone = kept(inactive(entry(ada, 'config_user_override', 9n)))
    const bobOnly = config({ users: [{ email: 'bob@example.com' }], all: daily('1') })
    expect(reconcile(bobOnly, gone).entries).toEqual([
      entry(ada, 'config_user_default', 1n),
      entry(bob, 'config_user_default', 1n),
    ])
  })

  test('stays when its owner left the file', () => {
    const existing = kept(
      entry(ada, 'config_user_override', 9n),
      entry(nightly, 'config_user_override', 4n),
    )
    const bobOnly = { users: [{ email: 'bob@example.com' }] }
    expect(reconcile(config(bobOnly), existing).entries).toEqual([])
    expect(reconcile(config({ ...bobOnly, all: daily('1') }), existing).entries).toEqual([
      entry(bob, 'config_user_default', 1n),
    ])
  })
})

describe('an administrator’s decision', () => {
  const all = config({ all: daily('1'), models: [{ model: 'm', budget: daily('2') }] })
  const model = { kind: 'user_model', userId: 'u1', modelId: 'm' } as const

  test.each([true, false])('stays, active: %p, with any defaults', (active) => {
    const manual = [entry(ada, 'manual', 7n), entry(model, 'manual', 7n)].map((budget) =>
      active ? budget : inactive(budget),
    )
    const { entries, warnings } = reconcile(all, kept(...manual))
    expect(entries.map(({ scope }) => scope)).toEqual(
      expect.arrayContaining([bob, { ...model, userId: 'u2' }]),
    )
    expect(entries).toHaveLength(2)
    expect(warnings).toEqual([])
    expect(reconcile(config({}), kept(...manual)).entries).toEqual([])
  })

  test('is reported where the file has something else for that owner', () => {
    const withOwn = config({
      ada: daily('9'),
      serviceAccounts: [{ key: 'nightly', budget: daily('4') }],
    })
    const manual = kept(
      { scope: ada, source: 'manual', active: false, settings: undefined },
      entry(nightly, 'manual', 7n),
    )
    const { entries, warnings } = reconcile(withOwn, manual)
    expect(entries).toEqual([])
    expect(warnings.map(({ path }) => path.join('.'))).toEqual([
      'users.0.budget',
      'service_accounts.0.budget',
    ])
    expect(warnings.map(({ message, severity }) => [severity, message])).toEqual([
      ['warning', 'has no effect, because an administrator has deactivated the budget'],
      ['warning', 'has no effect, because an administrator has set another budget'],
    ])
    const same = entry(ada, 'manual', 9n)
    expect(reconcile(config({ ada: daily('9') }), kept(same)).warnings).toEqual([])
    expect(reconcile(config({ ada: daily('9') }), kept(inactive(same))).warnings).toHaveLength(1)
  })
})

function inactiveEntry({ scope, source, settings }: Budget): BudgetEntry {
  return { scope, source, active: false, settings }
}
