import { describe, expect, test } from 'bun:test'
import { ledgerRow, usageMissing } from './row.ts'
import {
  call,
  dailyBudget,
  expectBooksToBalance,
  openAccounting,
  readCounters,
  readLedger,
  serviceAccount,
  useDatabase,
  user,
} from './testing.ts'

const own = useDatabase()

const ledger = () => readLedger(own.sql)
const counters = () => readCounters(own.sql)
const rejected = async () => [...(await own.sql`select * from accounting.budget_rejected_charges`)]

describe('the same request twice', () => {
  const twice = [call({ requestId: 'twice' }), call({ requestId: 'twice' })] as const

  async function expectOneRowAndOneRejection() {
    expect(await ledger()).toHaveLength(1)
    expect(await rejected()).toEqual([
      expect.objectContaining({
        request_id: 'twice',
        reason: 'duplicate_race',
        pricing_status: 'priced',
        cost_pico_usd: 400n,
        prompt_tokens: 100n,
      }),
    ])
    expect((await counters())['budget:v1:user:u1 2026-03-31']).toBe('400')
  }

  test('in one batch', async () => {
    const accounting = openAccounting(own.database)
    await Promise.all(twice.map((c) => accounting.settle(c)))
    expect(accounting.batches).toEqual([2])
    await expectOneRowAndOneRejection()
  })

  test('one after the other', async () => {
    const accounting = openAccounting(own.database)
    const [first, second] = twice
    expect(await accounting.settle(first)).toMatchObject({ kind: 'ledger', costPicoUsd: 400n })
    expect(await accounting.settle(second)).toEqual({ kind: 'rejected', costPicoUsd: 400n })
    await expectOneRowAndOneRejection()
  })

  test('on two instances at once', async () => {
    const instances = [openAccounting(own.database), openAccounting(own.database)]
    await Promise.all(instances.map((accounting, i) => accounting.settle(twice[i] ?? call())))
    await expectOneRowAndOneRejection()
  })

  test('counts once for a budget, at once and after a look, and others of its batch do too', async () => {
    const accounting = openAccounting(own.database)
    await accounting.budget([dailyBudget('u1', 10_000n)])
    const { dispatchedAt } = twice[0]
    const spent = () =>
      accounting.budgetsOf?.(twice[0], dispatchedAt)?.map((budget) => budget.spentUsd)
    await Promise.all([...twice, call()].map((c) => accounting.settle(c)))
    expect(accounting.batches).toEqual([3])
    expect(spent()).toEqual(['0.0000000008'])
    await accounting.refresh()
    expect(spent()).toEqual(['0.0000000008'])
  })

  test('by two owners is two requests', async () => {
    const { settle } = openAccounting(own.database)
    await Promise.all([
      settle(call({ requestId: 'shared' })),
      settle(call({ requestId: 'shared', principal: serviceAccount('s1') })),
    ])
    expect(await ledger()).toHaveLength(2)
    expect(await rejected()).toEqual([])
  })
})

test('rows that are replayed although they were written, or kept as rejected, change nothing', async () => {
  const { store } = openAccounting(own.database)
  const rows = [1, 2].map(() =>
    ledgerRow(call({ requestId: 'twice' }), usageMissing(), new Date(), [], undefined),
  )
  for (let times = 0; times < 2; times++) {
    const { duplicates } = await store.writeLedger(rows)
    expect(duplicates.size).toBe(1)
    expect([await ledger(), await rejected()]).toMatchObject([[{}], [{}]])
  }
})

test('replicas that write the same requests in opposite order do not deadlock', async () => {
  const instances = [
    openAccounting(own.database),
    openAccounting(own.database),
    openAccounting(own.database),
  ]
  const calls = Array.from({ length: 200 }, (_, n) =>
    call({ requestId: `r${n}`, principal: user(`u${n % 20}`) }),
  )
  await Promise.all(
    instances.flatMap((accounting, i) =>
      (i % 2 === 0 ? calls : calls.toReversed()).map((c) => accounting.settle(c)),
    ),
  )
  expect(await ledger()).toHaveLength(200)
  expect(await rejected()).toHaveLength(400)
  await expectBooksToBalance(own.sql)
})
