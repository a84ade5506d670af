import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { SettlementRequest } from 'model-gateway/accounting'
import type { BudgetEntry } from './budget.ts'
import {
  call,
  closeAll,
  dailyBudget,
  empty,
  expectBooksToBalance,
  openAccounting,
  readCounters,
  readLedger,
  serviceAccount,
  usage,
  useDatabase,
  user,
} from './testing.ts'
import { cadences } from './window.ts'

const own = useDatabase()

const ledger = () => readLedger(own.sql)
const counters = () => readCounters(own.sql)

describe('a settled call', () => {
  test('of a user becomes one row and counts in three scopes, on the day of dispatch', async () => {
    const settled = call({ requestId: 'r1', usage: usage({ cacheRead: 0, reasoning: 5 }) })
    expect(await openAccounting(own.database).settle(settled)).toEqual({
      kind: 'ledger',
      pricingStatus: 'priced',
      unpricedReason: undefined,
      costPicoUsd: 400n,
    })
    expect(await ledger()).toEqual([
      expect.objectContaining({
        request_id: 'r1',
        ownership_scope_key: 'user:u1',
        owner_kind: 'user',
        user_id: 'u1',
        service_account_id: null,
        team_id: null,
        api_key_id: 'key-of-u1',
        operation: 'chat_completions',
        model_key: 'fast',
        resolved_model_key: 'small-model',
        provider_key: 'main',
        upstream_model: ' vendor/small ',
        pricing_provider_id: 'p',
        pricing_model: 'vendor/small',
        rate_id: 'rate-1',
        pricing_status: 'priced',
        unpriced_reason: null,
        prompt_tokens: 100n,
        completion_tokens: 20n,
        total_tokens: 120n,
        uncached_input_tokens: 100n,
        cache_read_tokens: 0n,
        cache_write_tokens: null,
        reasoning_tokens: 5n,
        cost_pico_usd: 400n,
        dispatched_at: settled.dispatchedAt,
        occurred_at: new Date('2026-04-01T00:00:05Z'),
      }),
    ])
    expect(await counters()).toEqual({
      'budget:v1:user:u1 2026-03-31': '400',
      'budget:v1:user:u1:model:small-model 2026-03-31': '400',
      'budget:v1:user:u1:upstream_model:vendor/small 2026-03-31': '400',
    })
  })

  test('of a service account names its team and counts in one scope', async () => {
    await openAccounting(own.database).settle(call({ principal: serviceAccount('s1') }))
    expect(await ledger()).toEqual([
      expect.objectContaining({
        ownership_scope_key: 'service_account:s1',
        owner_kind: 'service_account',
        user_id: null,
        service_account_id: 's1',
        team_id: 't2',
      }),
    ])
    expect(await counters()).toEqual({ 'budget:v1:service_account:s1 2026-03-31': '400' })
  })

  test('without usage is usage_missing when it succeeded, and nothing when it failed', async () => {
    const { settle } = openAccounting(own.database)
    const unknown = usage({ uncachedInput: undefined, output: undefined, promptTokens: undefined })
    const none = { kind: 'none' } as const
    const missing = expect.objectContaining({ kind: 'ledger', pricingStatus: 'usage_missing' })
    expect(await settle(call({ usage: undefined }))).toEqual(missing)
    expect(await settle(call({ usage: unknown }))).toEqual(missing)
    expect(await settle(call({ usage: undefined, succeeded: false }))).toEqual(none)
    expect(await settle(call({ usage: unknown, succeeded: false }))).toEqual(none)
    expect(await ledger()).toHaveLength(2)
    expect(await counters()).toEqual({})
  })

  test('that failed is charged for the usage that is known', async () => {
    await openAccounting(own.database).settle(call({ succeeded: false }))
    expect(await ledger()).toEqual([expect.objectContaining({ cost_pico_usd: 400n })])
  })

  test.each(['cacheRead', 'cacheWrite'] as const)('with only %s known has usage', async (kind) => {
    const known = usage({ uncachedInput: undefined, output: undefined, [kind]: 5 })
    const { settle } = openAccounting(own.database)
    const settled = await settle(call({ usage: known, succeeded: false }))
    expect(settled).toMatchObject({ kind: 'ledger', pricingStatus: 'priced' })
  })

  test('without a price is kept with its reason and counts nowhere', async () => {
    const pricing = { pricingProviderId: undefined, model: 'other' }
    const settlement = await openAccounting(own.database).settle(call({ pricing }))
    expect(settlement).toMatchObject({ pricingStatus: 'unpriced', costPicoUsd: undefined })
    expect(await ledger()).toEqual([
      expect.objectContaining({
        pricing_status: 'unpriced',
        unpriced_reason: 'model_not_found',
        pricing_provider_id: null,
        rate_id: null,
        cost_pico_usd: null,
        prompt_tokens: 100n,
      }),
    ])
    expect(await counters()).toEqual({})
  })

  test('with doubtful counters is an estimate, counts, and says why', async () => {
    const doubtful = usage({ output: -4, doubt: 'negative output' })
    await openAccounting(own.database).settle(call({ usage: doubtful }))
    expect(await ledger()).toEqual([
      expect.objectContaining({
        pricing_status: 'legacy_estimated',
        usage_doubt: 'negative output',
        completion_tokens: null,
      }),
    ])
    expect(Object.keys(await counters())).toHaveLength(3)
  })

  test('that costs more than a row can hold is an estimate at the largest cost', async () => {
    const huge = usage({ uncachedInput: Number.MAX_SAFE_INTEGER })
    const pricing = { pricingProviderId: 'p', model: 'vendor/dear' }
    const settlement = await openAccounting(own.database).settle(call({ usage: huge, pricing }))
    expect(settlement).toMatchObject({ costPicoUsd: 2n ** 63n - 1n })
    expect(await ledger()).toEqual([
      expect.objectContaining({
        pricing_status: 'legacy_estimated',
        cost_pico_usd: 2n ** 63n - 1n,
      }),
    ])
  })
})

test('1,000 concurrent calls: one row each, few commits, counters equal to the ledger', async () => {
  const accounting = openAccounting(own.database)
  const calls = Array.from({ length: 1000 }, (_, n) =>
    call({
      principal: n % 3 === 0 ? serviceAccount('s1') : user(`u${n % 5}`),
      usage: usage({ uncachedInput: n }),
    }),
  )
  let next = 0
  const worker = async () => {
    for (let c = calls[next++]; c !== undefined; c = calls[next++]) {
      await Bun.sleep(Math.random() * 3)
      await accounting.settle(c)
    }
  }
  await Promise.all(Array.from({ length: 100 }, worker))

  const rows = await ledger()
  expect(rows.map((r) => r.request_id)).toEqual(calls.map((c) => c.requestId).sort())
  const cost = new Map(
    calls.map((c) => [c.requestId, BigInt(c.usage?.uncachedInput ?? 0) * 2n + 200n]),
  )
  for (const row of rows) expect(row.cost_pico_usd).toBe(cost.get(row.request_id))
  expect(accounting.batches.reduce((a, b) => a + b)).toBe(1000)
  expect(1000 / accounting.batches.length).toBeGreaterThan(5)
  await expectBooksToBalance(own.sql)
})

test('hostile text does not lose its row or others', async () => {
  const { settle, batches } = openAccounting(own.database)
  const nasty = 'a\0b\ud800c"\\{},\u2028😀'
  await Promise.all([
    settle(call({ requestId: 'a-fine-one' })),
    settle(call({ requestId: 'b-nasty', requestedModel: nasty, resolvedModel: nasty.repeat(500) })),
  ])
  expect(batches).toEqual([2])
  const [, row] = await ledger()
  expect(row?.model_key).toBe('ab\ufffdc"\\{},\u2028😀')
  expect(row?.resolved_model_key.length).toBeLessThanOrEqual(512)
})

describe('with random faults', () => {
  const day = fc.constantFrom(
    '2026-02-28T23:59:59.999Z',
    '2026-03-01T00:00:00Z',
    '2026-03-02T11:59:59.999Z',
    '2026-03-02T12:00:00Z',
  )
  const settled: fc.Arbitrary<SettlementRequest> = fc
    .record({
      requestId: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
      principal: fc.constantFrom(user('u1'), user('u2'), serviceAccount('s1')),
      requestedModel: fc.constantFrom('fast', 'tag:cheap'),
      resolvedModel: fc.constantFrom('m1', 'm2'),
      dispatchedAt: day.map((iso) => new Date(iso)),
      succeeded: fc.boolean(),
      pricing: fc
        .constantFrom('vendor/small', 'unknown')
        .map((model) => ({ pricingProviderId: 'p', model })),
      usage: fc.option(
        fc.nat({ max: 10_000 }).map((n) => usage({ uncachedInput: n })),
        { nil: undefined },
      ),
    })
    .map(call)
  const limits = fc.array(
    fc.record({
      userId: fc.constantFrom('u1', 'u2'),
      amount: fc.nat({ max: 30_000 }),
      cadence: fc.constantFrom(...cadences),
    }),
    { maxLength: 2 },
  )

  /** A history on two replicas, with some limits. */
  async function live(calls: readonly SettlementRequest[], budgets: readonly BudgetEntry[]) {
    await closeAll()
    await empty(own.sql)
    const instances = [openAccounting(own.database), openAccounting(own.database)]
    for (const accounting of instances) await accounting.budget(budgets)
    await Promise.all(calls.map((c, i) => instances[i % 2]?.settle(c)))
  }

  test('ledger = counters = roll-ups, to the pico-dollar', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(settled, { maxLength: 40 }), limits, async (calls, some) => {
        const byUser = new Map(some.map((limit) => [limit.userId, limit]))
        const budgets = [...byUser.values()].map(({ userId, amount, cadence }) =>
          dailyBudget(userId, BigInt(amount), { cadence }),
        )
        await live(calls, budgets)
        await expectBooksToBalance(own.sql)
      }),
      { numRuns: 25 },
    )
  })

  test.each([
    'update accounting.spend_counters set spent = spent + 1 where scope_key like $1',
    'update accounting.spend_counters set rejected = rejected + 1 where scope_key like $1',
    'update accounting.usage_rollups set cost_pico_usd = cost_pico_usd - 1 where owner_id <> $1',
    'update accounting.usage_rollups set rejected_pico_usd = 1 where owner_id <> $1',
    'delete from accounting.usage_cost_events where request_id = any (select $1)',
  ])('and a difference of one is detected: %s', async (fault) => {
    await live([call({ requestId: '%' }), call()], [])
    await expectBooksToBalance(own.sql)
    await own.sql.unsafe(fault, ['%'])
    await expect(expectBooksToBalance(own.sql)).rejects.toThrow()
  })
})
