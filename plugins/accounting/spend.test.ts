import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Budget, BudgetSettings } from './budget.ts'
import { type Charge, type Counter, createSpend } from './spend.ts'
import { utcDay } from './window.ts'

const DAY = 20_000
const KEY = 'budget:v1:user:u1'

function budget(amountPicoUsd: bigint): Budget {
  return {
    budgetId: 'b1',
    scopeKey: KEY,
    scope: { kind: 'user', userId: 'u1' },
    source: 'manual',
    active: true,
    settings: {
      cadence: 'daily',
      amountPicoUsd,
      hardLimit: true,
      unpriced: 'allow',
      timezone: 'UTC',
    },
  }
}
const charge = (costPicoUsd = 400n): Charge => ({
  scopeKeys: [KEY],
  day: DAY,
  costPicoUsd,
  rejected: false,
})
const counter = (spent: bigint): Counter => ({ scopeKey: KEY, day: DAY, spent, rejected: 0n })

type Spend = ReturnType<typeof createSpend>

/** The spend of the scope, derived from the largest charge that still fits. */
function spent(spend: Spend, limit: bigint): bigint {
  let [fits, over] = [0n, limit + 1n]
  while (over - fits > 1n) {
    const middle = (fits + over) / 2n
    if (spend.overruns([KEY], DAY, middle)) over = middle
    else fits = middle
  }
  return limit - fits
}

const LIMIT = 1n << 40n
function withBudget() {
  const spend = createSpend()
  spend.apply({ snapshot: '10:10:', budgets: [budget(LIMIT)], counters: [] }, DAY, true)
  const look = (snapshot: string, counters: Counter[], complete = false) =>
    spend.apply({ snapshot, budgets: complete ? [budget(LIMIT)] : [], counters }, DAY, complete)
  return { spend, look, total: () => spent(spend, LIMIT) }
}

describe('a charge counts once', () => {
  test('if its commit is known before a read includes it', () => {
    const { spend, look, total } = withBudget()
    const one = charge()
    spend.add(one)
    expect(total()).toBe(400n)
    spend.committed(one, 12n)
    look('12:14:12', [])
    expect(total()).toBe(400n)
    look('14:14:', [counter(400n)])
    expect(total()).toBe(400n)
  })

  test('if a read includes it before its commit is known', () => {
    const { spend, look, total } = withBudget()
    const one = charge()
    spend.add(one)
    look('14:14:', [counter(400n)])
    spend.committed(one, 12n)
    expect(total()).toBe(400n)
    look('15:15:', [])
    expect(total()).toBe(400n)
  })

  test('if it was spooled although an earlier commit succeeded', () => {
    const { spend, look, total } = withBudget()
    const one = charge()
    spend.add(one)
    spend.spool(one)
    look('14:14:', [counter(400n)])
    const replayed = charge()
    spend.unspool(replayed)
    spend.committed(replayed, 20n)
    // The changes of that commit were read long ago; only a complete read corrects it.
    look('21:21:', [counter(400n)], true)
    expect(total()).toBe(400n)
  })

  test('if its commit is known before the first read, which does not include it', () => {
    const spend = createSpend()
    const one = charge()
    spend.add(one)
    spend.committed(one, 12n)
    spend.apply({ snapshot: '10:10:', budgets: [budget(LIMIT)], counters: [] }, DAY, true)
    expect(spent(spend, LIMIT)).toBe(400n)
  })

  test('and not at all if it was not written', () => {
    const { spend, total } = withBudget()
    const one = charge()
    spend.add(one)
    spend.drop(one)
    spend.drop(one)
    expect(total()).toBe(0n)
  })
})

test('charges being written or spooled count for a later budget', () => {
  const spend = createSpend()
  const [one, two] = [charge(1n), charge(20n)]
  spend.add(one)
  spend.add(two)
  spend.spool(two)
  spend.adopt(charge(300n))
  spend.apply(
    { snapshot: '10:10:', budgets: [budget(LIMIT)], counters: [counter(4000n)] },
    DAY,
    true,
  )
  expect(spent(spend, LIMIT)).toBe(4321n)
})

test('the spool of a dead process counts as soon as it is taken over', () => {
  const { spend, total } = withBudget()
  spend.adopt(charge())
  expect(total()).toBe(400n)
})

test('a spooled charge that the database rejects does not count any more', () => {
  const { spend, total } = withBudget()
  const one = charge()
  spend.adopt(one)
  spend.unspool(one)
  expect(total()).toBe(400n)
  spend.drop(one)
  expect(total()).toBe(0n)
})

test('a complete read removes budgets that no longer exist', () => {
  const { spend } = withBudget()
  spend.apply({ snapshot: '14:14:', budgets: [], counters: [] }, DAY, true)
  expect(spend.has(KEY)).toBe(false)
})

test('a charge counts in the window of its day, whichever window was read last', () => {
  const { spend, total } = withBudget()
  spend.add(charge())
  spend.add({ ...charge(50n), day: DAY + 1 })
  expect(total()).toBe(400n)
  expect(spend.stateOf(KEY, DAY + 1)).toMatchObject({ spent: 50n })
  expect(total()).toBe(400n)
})

test('a past month keeps its spend for calls that end late', () => {
  const [first, last, next] = ['2026-03-01', '2026-03-31', '2026-04-01'].map((day) =>
    utcDay(new Date(day)),
  ) as [number, number, number]
  const spend = createSpend()
  const monthly = budget(LIMIT)
  const settings = { ...monthly.settings, cadence: 'monthly' } as BudgetSettings
  const budgets = [{ ...monthly, settings }]
  spend.apply({ snapshot: '10:10:', budgets, counters: [] }, first, true)
  spend.add({ ...charge(), day: first })
  expect(spend.stateOf(KEY, next)).toMatchObject({ spent: 0n })
  expect(spend.stateOf(KEY, last)).toMatchObject({ spent: 400n })
})

test('a rejected charge in the spool uses up its hard limit', () => {
  const { spend, look } = withBudget()
  const one = { ...charge(LIMIT), rejected: true }
  spend.add(one)
  spend.spool(one)
  look('14:14:', [], true)
  expect(spend.exhausted([KEY], DAY)).toMatchObject({ scopeKey: KEY })
})

test('the sum is correct for any order of commits, replies and reads', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('begin' as const), cost: fc.nat({ max: 1000 }) }),
    fc.record({ kind: fc.constantFrom('commit', 'reply', 'fail'), at: fc.nat({ max: 100 }) }),
    fc.constant({ kind: 'look' as const }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const { spend, look, total } = withBudget()
      let next = 10n
      let inDatabase = 0n
      let expected = 0n
      const running: { charge: Charge; transaction: bigint }[] = []
      const committed: typeof running = []
      const take = (from: typeof running, at: number) =>
        from.length === 0 ? undefined : from.splice(at % from.length, 1)[0]
      for (const one of steps) {
        if (one.kind === 'begin') {
          const begun = { charge: charge(BigInt(one.cost)), transaction: next++ }
          spend.add(begun.charge)
          expected += begun.charge.costPicoUsd
          running.push(begun)
        } else if (one.kind === 'look') {
          const open = running
            .map(({ transaction }) => transaction)
            .sort((a, b) => (a < b ? -1 : 1))
          look(`${open[0] ?? next}:${next}:${open.join()}`, [counter(inDatabase)])
        } else if (one.kind === 'reply') {
          const done = take(committed, one.at)
          if (done !== undefined) spend.committed(done.charge, done.transaction)
        } else {
          const ended = take(running, one.at)
          if (ended === undefined) continue
          if (one.kind === 'commit') {
            inDatabase += ended.charge.costPicoUsd
            committed.push(ended)
          } else {
            spend.drop(ended.charge)
            expected -= ended.charge.costPicoUsd
          }
        }
      }
      for (const { charge, transaction } of running) {
        inDatabase += charge.costPicoUsd
        spend.committed(charge, transaction)
      }
      for (const { charge, transaction } of committed) spend.committed(charge, transaction)
      expect(total()).toBe(expected)
      look(`${next}:${next}:`, [counter(inDatabase)])
      expect(total()).toBe(inDatabase)
    }),
    { numRuns: 500 },
  )
})
