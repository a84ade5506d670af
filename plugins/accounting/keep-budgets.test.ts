import { expect, test } from 'bun:test'
import type { Directory } from 'model-gateway/plugin'
import pino from 'pino'
import type { BudgetStore } from './budget-store.ts'
import { createBudgetKeeper } from './keep-budgets.ts'
import type { ConfiguredBudgets } from './reconcile.ts'

const nobody: Directory = { users: [], serviceAccounts: [] }
const ada = {
  id: 'u1',
  email: 'ada@x.test',
  name: 'Ada',
  status: 'active',
  team: undefined,
} as const

test('the end waits for owners who are being given budgets', async () => {
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
