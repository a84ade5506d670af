import { expect, test } from 'bun:test'
import type { Directory } from 'model-gateway/identity'
import pino from 'pino'
import type { Budget, BudgetEntry } from './budget.ts'
import type { BudgetStore } from './budget-store.ts'
import { createBudgetKeeper } from './keep-budgets.ts'
import type { ConfiguredBudgets } from './reconcile.ts'
import { scopeKey } from './scopes.ts'

const nobody: Directory = { users: [], serviceAccounts: [] }
const ada = {
  id: 'u1',
  email: 'ada@x.test',
  name: 'Ada',
  status: 'active',
  team: undefined,
} as const

const budgetOf = (amount_usd: string) =>
  ({ cadence: 'daily', amount_usd, hard_limit: true, unpriced: 'allow', timezone: 'UTC' }) as const

test('shutdown waits for budgets of new owners', async () => {
  const { promise: known, resolve: know } = Promise.withResolvers<Directory>()
  const written: string[] = []
  const keeper = createBudgetKeeper({
    store: { changeAll: async () => void written.push('budgets') } as unknown as BudgetStore,
    directory: () => known,
    log: pino({ level: 'silent' }),
    changed: async () => void written.push('told'),
  })
  keeper.accept({ users: [], models: [], serviceAccounts: [] } as unknown as ConfiguredBudgets)
  void keeper.ownersChanged()
  const drained = keeper.drained().then(() => written.push('drained'))
  know({ ...nobody, users: [ada] })
  await drained
  expect(written).toEqual(['budgets', 'told', 'drained'])
})

test('a replica that still has the old config leaves the budgets of known owners alone', async () => {
  let budgets: readonly Budget[] = []
  let directory: Directory = { ...nobody, users: [ada] }
  const store: Pick<BudgetStore, 'changeAll'> = {
    async changeAll(plan) {
      const written = plan(budgets).map((entry) => ({
        ...entry,
        budgetId: 'b',
        scopeKey: scopeKey(entry.scope),
      }))
      const replaced = new Set(written.map((budget) => budget.scopeKey))
      budgets = [...budgets.filter((budget) => !replaced.has(budget.scopeKey)), ...written]
    },
  }
  const start = async (amount_usd: string) => {
    const keeper = createBudgetKeeper({
      store: store as BudgetStore,
      directory: async () => directory,
      log: pino({ level: 'silent' }),
      changed: async () => {},
    })
    const configured: ConfiguredBudgets = {
      budgets: { users: { default: budgetOf(amount_usd), model_defaults: [] } },
      users: [],
      serviceAccounts: [],
    }
    await keeper.prepare(configured)
    keeper.accept(configured)
    return keeper
  }
  const old = await start('1')
  const latest = await start('5')
  directory = { ...nobody, users: [ada, { ...ada, id: 'u2', email: 'bob@x.test' }] }
  await latest.ownersChanged()
  await old.ownersChanged()
  const amounts = new Map(budgets.map((b) => [b.scopeKey, b.settings?.amountPicoUsd]))
  expect([...amounts.keys()].sort()).toEqual(['budget:v1:user:u1', 'budget:v1:user:u2'])
  expect(amounts.get('budget:v1:user:u1')).toBe(5n * 10n ** 12n)
})

test('a replica that still has the old config gives nothing to known owners whom the new one gives nothing', async () => {
  const bob = { ...ada, id: 'u2', email: 'bob@x.test' }
  let directory: Directory = { ...nobody, users: [ada] }
  const given: string[] = []
  const faults: string[] = []
  const keeper = createBudgetKeeper({
    store: {
      // The new config has removed the budgets.
      changeAll: async (plan) => void given.push(...plan([]).map(({ scope }) => scopeKey(scope))),
    } as Partial<BudgetStore> as BudgetStore,
    directory: async () => directory,
    log: pino({}, { write: (line) => faults.push(line) }),
    changed: async () => {},
  })
  const configured: ConfiguredBudgets = {
    budgets: { users: { default: budgetOf('1'), model_defaults: [] } },
    users: [],
    serviceAccounts: [],
  }
  // Without a config, no budgets are created.
  await keeper.ownersChanged()
  expect([given, faults]).toEqual([[], []])
  await keeper.prepare(configured)
  keeper.accept(configured)
  expect(given.splice(0)).toEqual(['budget:v1:user:u1'])
  directory = { ...nobody, users: [ada, bob] }
  await keeper.ownersChanged()
  expect(given.splice(0)).toEqual(['budget:v1:user:u2'])
  await keeper.ownersChanged()
  expect(given).toEqual([])
})

test('a replica that still has the old config takes nothing that the new one gave to new owners', async () => {
  const given = { scope: { kind: 'user', userId: 'u2' }, source: 'config_user_default' } as const
  const settings = {
    cadence: 'daily',
    amountPicoUsd: 5n,
    hardLimit: true,
    unpriced: 'allow',
    timezone: 'UTC',
  } as const
  const there: Budget = {
    ...given,
    active: true,
    settings,
    budgetId: 'b',
    scopeKey: scopeKey(given.scope),
  }
  for (const inOldConfig of [undefined, { ...budgetOf('1'), hard_limit: false }]) {
    let directory = nobody
    const written: BudgetEntry[] = []
    const keeper = createBudgetKeeper({
      store: {
        changeAll: async (plan) => void written.push(...plan([there])),
      } as Partial<BudgetStore> as BudgetStore,
      directory: async () => directory,
      log: pino({ level: 'silent' }),
      changed: async () => {},
    })
    keeper.accept({
      budgets: {
        users: {
          ...(inOldConfig && { default: inOldConfig }),
          model_defaults: [{ model: 'large', budget: budgetOf('2') }],
        },
      },
      users: [],
      serviceAccounts: [],
    })
    directory = { ...nobody, users: [{ ...ada, id: 'u2' }] }
    await keeper.ownersChanged()
    // Budgets that no replica has created yet are created from the old config.
    expect(written.map(({ scope }) => scopeKey(scope))).toEqual(['budget:v1:user:u2:model:large'])
  }
})

test('budgets of new owners are written later, once, after a failure', async () => {
  let tries = 0
  let asked = 0
  const keeper = createBudgetKeeper({
    store: {
      async changeAll() {
        tries += 1
        if (tries === 1) throw new Error('the database is away')
      },
    } as unknown as BudgetStore,
    async directory() {
      asked += 1
      return { ...nobody, users: [ada] }
    },
    log: pino({ level: 'silent' }),
    changed: async () => {},
  })
  keeper.accept({ users: [], models: [], serviceAccounts: [] } as unknown as ConfiguredBudgets)
  await keeper.ownersChanged()
  expect(tries).toBe(1)
  await keeper.catchUp()
  expect(tries).toBe(2)
  await keeper.catchUp()
  expect([tries, asked]).toEqual([2, 2])
})
