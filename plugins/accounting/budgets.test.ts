import { describe, expect, test } from 'bun:test'
import type { SettlementRequest } from 'model-gateway/accounting'
import type { GatewayError } from 'model-gateway/plugin'
import type { BudgetEntry } from './budget.ts'
import { createBudgetStore } from './budget-store.ts'
import {
  call,
  dailyBudget,
  expectBooksToBalance,
  openAccounting,
  readLedger,
  serviceAccount,
  usage,
  useDatabase,
  user,
} from './testing.ts'

const own = useDatabase()

const rejected = async () => [...(await own.sql`select * from accounting.budget_rejected_charges`)]
const exceeded = expect.objectContaining({ code: 'budget_exceeded', status: 429 })

/** The error that `admit` throws synchronously. */
function refusal(admit: () => unknown): unknown {
  try {
    admit()
    return undefined
  } catch (error) {
    return error
  }
}

const at = (iso: string, changes: Partial<SettlementRequest> = {}) =>
  call({ dispatchedAt: new Date(iso), ...changes })

async function open(...budgets: BudgetEntry[]) {
  const accounting = openAccounting(own.database)
  await accounting.budget(budgets)
  return accounting
}

describe('a hard limit', () => {
  test('of 0.01 USD per day refuses once it is spent, and has the time of its reset', async () => {
    // 1,000 calls of 0.00001 USD.
    const accounting = await open(dailyBudget('u1', 10_000_000_000n))
    const cheap = () => call({ usage: usage({ uncachedInput: 5_000_000, output: 0 }) })
    for (let n = 0; n < 1000; n++) {
      expect(accounting.admit(cheap())).toBeUndefined()
      expect(await accounting.settle(cheap())).toMatchObject({ costPicoUsd: 10_000_000n })
    }
    expect(refusal(() => accounting.admit(cheap()))).toMatchObject({
      code: 'budget_exceeded',
      status: 429,
      type: 'budget_error',
      message: expect.stringMatching(
        /is used up: quota exceeded, it will reset at 2026-04-01T00:00:00\.000Z \(budget:v1:user:u1\)$/,
      ),
      headers: {
        'x-should-retry': 'false',
        'retry-after': expect.stringMatching(/^\d+$/),
        'retry-after-ms': '0',
      },
      details: {
        reason: expect.stringMatching(/^the daily budget of .*, 0\.01 USD, is used up$/),
        scope_key: 'budget:v1:user:u1',
        cadence: 'daily',
        limit_usd: '0.01',
        window_start: '2026-03-31T00:00:00.000Z',
        window_end: '2026-04-01T00:00:00.000Z',
        resets_at: '2026-04-01T00:00:00.000Z',
      },
    })
    expect(await readLedger(own.sql)).toHaveLength(1000)
  })

  test('that a call would exceed rejects its charge, and the next call', async () => {
    const accounting = await open(dailyBudget('u1', 399n))
    expect(accounting.admit(call())).toBeUndefined()
    const settled = call({ requestId: 'dear' })
    expect(await accounting.settle(settled)).toEqual({ kind: 'rejected', costPicoUsd: 400n })
    expect(refusal(() => accounting.admit(call()))).toEqual(exceeded)
    expect(await readLedger(own.sql)).toEqual([])
    expect(await rejected()).toEqual([
      expect.objectContaining({
        request_id: 'dear',
        reason: 'budget_exceeded',
        pricing_status: 'priced',
        rate_id: 'rate-1',
        cost_pico_usd: 400n,
        prompt_tokens: 100n,
        completion_tokens: 20n,
      }),
    ])
    await expectBooksToBalance(own.sql)
  })

  test('can be reached exactly', async () => {
    const accounting = await open(dailyBudget('u1', 800n))
    for (const spent of [400n, 800n]) {
      expect(accounting.admit(call())).toBeUndefined()
      expect(await accounting.settle(call())).toMatchObject({ kind: 'ledger', costPicoUsd: 400n })
      expect(refusal(() => accounting.admit(call())) !== undefined).toBe(spent === 800n)
    }
  })

  test('of 0 refuses every call', async () => {
    const accounting = await open(dailyBudget('u1', 0n))
    expect(refusal(() => accounting.admit(call()))).toEqual(exceeded)
  })

  test('is checked before duplicates, and does not use up the id', async () => {
    const accounting = await open(dailyBudget('u1', 0n))
    const chosen = call({ requestId: 'x', callerChoseRequestId: true })
    expect(refusal(() => accounting.admit(chosen))).toEqual(exceeded)
    await accounting.budget([dailyBudget('u1', 1n)])
    await accounting.admit(chosen)
  })

  test('does not count calls without a price or usage', async () => {
    const accounting = await open(dailyBudget('u1', 1n))
    await accounting.settle(call({ usage: undefined }))
    await accounting.settle(call({ pricing: { pricingProviderId: 'p', model: 'unknown' } }))
    expect(accounting.admit(call())).toBeUndefined()
    expect(await readLedger(own.sql)).toHaveLength(2)
  })
})

test('a soft limit never refuses and never rejects', async () => {
  const accounting = await open(dailyBudget('u1', 1n, { hardLimit: false }))
  for (let n = 0; n < 3; n++) {
    expect(accounting.admit(call())).toBeUndefined()
    expect(await accounting.settle(call())).toMatchObject({ kind: 'ledger' })
  }
  expect(await rejected()).toEqual([])
})

describe('a call counts in all its scopes', () => {
  const hard = dailyBudget('u1', 400n)
  const scopes = {
    'the model that is executed': { kind: 'user_model', userId: 'u1', modelId: 'small-model' },
    'the upstream model, trimmed': {
      kind: 'user_model',
      userId: 'u1',
      upstreamModel: 'vendor/small',
    },
  } as const

  test.each(Object.entries(scopes))('%s', async (_, scope) => {
    const accounting = await open(dailyBudget('u1', 1_000_000n), { ...hard, scope })
    const other = { resolvedModel: 'other', upstreamModel: 'vendor/other' }
    await accounting.settle(call(other))
    expect(accounting.admit(call())).toBeUndefined()
    await accounting.settle(call())
    expect(refusal(() => accounting.admit(call()))).toEqual(exceeded)
    expect(accounting.admit(call(other))).toBeUndefined()
    expect(accounting.admit(call({ principal: user('u2') }))).toBeUndefined()
  })

  test('a service account has a budget, and needs one', async () => {
    const principal = serviceAccount('s1')
    const scope = { kind: 'service_account', serviceAccountId: 's1' } as const
    const accounting = await open()
    const needed = { code: 'service_account_budget_required', status: 403 }
    accounting.checkOwner(user('u1'))
    expect(refusal(() => accounting.checkOwner(principal))).toMatchObject(needed)
    await accounting.budget([{ ...hard, scope }])
    accounting.checkOwner(principal)
    await accounting.settle(call({ principal }))
    expect(refusal(() => accounting.admit(call({ principal })))).toEqual(exceeded)
    expect(accounting.admit(call({ principal: user('s1') }))).toBeUndefined()
    await accounting.budget([{ scope, source: 'manual', active: false, settings: undefined }])
    expect(refusal(() => accounting.checkOwner(principal))).toMatchObject(needed)
  })
})

describe('in the middle of a window', () => {
  test('a new, raised, lowered or rescheduled budget is correct at once', async () => {
    const accounting = await open()
    await accounting.settle(at('2026-03-30T10:00:00Z'))
    await accounting.settle(at('2026-03-31T10:00:00Z'))
    const next = () => refusal(() => accounting.admit(at('2026-03-31T11:00:00Z')))
    expect(next()).toBeUndefined()
    await accounting.budget([dailyBudget('u1', 400n)])
    expect(next()).toEqual(exceeded)
    await accounting.budget([dailyBudget('u1', 401n)])
    expect(next()).toBeUndefined()
    await accounting.budget([dailyBudget('u1', 401n, { cadence: 'weekly' })])
    expect(next()).toEqual(exceeded)
    await accounting.budget([dailyBudget('u1', 801n, { cadence: 'monthly' })])
    expect(next()).toBeUndefined()
    await accounting.budget([dailyBudget('u1', 800n, { cadence: 'monthly' })])
    expect(next()).toEqual(exceeded)
    await accounting.budget([{ ...dailyBudget('u1', 400n), active: false }])
    await accounting.settle(at('2026-03-31T10:30:00Z'))
    expect(next()).toBeUndefined()
  })

  test('rejected charges count until the limit is raised above them', async () => {
    const accounting = await open(dailyBudget('u1', 300n))
    await accounting.settle(call())
    await accounting.budget([dailyBudget('u1', 400n)])
    expect(refusal(() => accounting.admit(call()))).toEqual(exceeded)
    await accounting.budget([dailyBudget('u1', 401n)])
    expect(accounting.admit(call())).toBeUndefined()
  })
})

test('a clock that was ahead and is corrected loses no spend', async () => {
  let now = '2026-04-20T12:00:00Z'
  const accounting = openAccounting(own.database, { now: () => new Date(now) })
  await accounting.budget([dailyBudget('u1', 800n, { cadence: 'monthly' })])
  await accounting.settle(at('2026-04-10T12:00:00Z'))
  await accounting.settle(at('2026-04-11T12:00:00Z'))
  await accounting.refresh()
  now = '2026-09-01T00:00:00Z'
  await accounting.refresh()
  expect(accounting.admit(at(now))).toBeUndefined()
  now = '2026-04-20T12:00:01Z'
  await accounting.refresh()
  expect(refusal(() => accounting.admit(at(now)))).toEqual(exceeded)
})

describe('at the edge of a window', () => {
  const edges = {
    daily: ['2026-03-31T23:59:59.999Z', '2026-04-01T00:00:00Z'],
    weekly: ['2026-03-29T23:59:59.999Z', '2026-03-30T00:00:00Z'],
    monthly: ['2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00Z'],
  } as const

  test.each(Object.entries(edges))(
    '%s, the next call is admitted again',
    async (cadence, [before, after]) => {
      const accounting = await open(
        dailyBudget('u1', 400n, { cadence: cadence as keyof typeof edges }),
      )
      await accounting.settle(at(before))
      expect(refusal(() => accounting.admit(at(before)))).toEqual(exceeded)
      expect(accounting.admit(at(after))).toBeUndefined()
      // A call that began before and ends now belongs to the old window, which is full.
      expect(await accounting.settle(at(before))).toMatchObject({ kind: 'rejected' })
      expect(accounting.admit(at(after))).toBeUndefined()
      expect(await accounting.settle(at(after))).toMatchObject({ kind: 'ledger' })
      expect(refusal(() => accounting.admit(at(after)))).toEqual(exceeded)
      await expectBooksToBalance(own.sql)
    },
  )
})

describe('two replicas', () => {
  test("see each other's spend and budget changes within a second", async () => {
    const [one, two] = [await open(dailyBudget('u1', 1000n)), openAccounting(own.database)]
    await two.refresh()
    await one.settle(call())
    await two.settle(call())
    for (const accounting of [one, two]) {
      expect(accounting.admit(call())).toBeUndefined()
      await accounting.refresh()
    }
    // 400 on one replica and 400 on the other: a third charge does not fit.
    expect(await one.settle(call())).toMatchObject({ kind: 'rejected' })
    await two.refresh()
    expect(refusal(() => two.admit(call()))).toEqual(exceeded)
    await two.budget([dailyBudget('u1', 5000n)])
    await one.refresh()
    expect(one.admit(call())).toBeUndefined()
    await expectBooksToBalance(own.sql)
  })

  test('that commit and read concurrently count everything once', async () => {
    const total = 60n * 400n
    const model = { kind: 'user_model', userId: 'u1', modelId: 'small-model' } as const
    const exactly = { ...dailyBudget('u1', total), scope: model }
    const replicas = [
      await open(dailyBudget('u1', total + 1n), exactly),
      openAccounting(own.database),
    ]
    let settling = true
    const looking = replicas.map(async (accounting) => {
      while (settling) await accounting.refresh()
    })
    for (let n = 0; n < 10; n++) {
      await Promise.all(Array.from({ length: 6 }, (_, i) => replicas[i % 2]?.settle(call())))
    }
    settling = false
    await Promise.all(looking)
    for (const accounting of replicas) {
      await accounting.refresh()
      // With less, nothing would be used up; with more, the user's limit would be.
      const { details } = refusal(() => accounting.admit(call())) as GatewayError
      expect(details.scope_key).toBe('budget:v1:user:u1:model:small-model')
    }
    expect(await rejected()).toEqual([])
  })
})

test('a plan over all budgets includes concurrent changes', async () => {
  const budgets = createBudgetStore(own.database)
  const seen: string[] = []
  const { following } = await own.database.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext('accounting.budgets'))`
    const following = budgets.changeAll((existing) => {
      seen.push(...existing.map(({ source }) => source))
      return []
    })
    await Bun.sleep(100)
    await budgets.insert(tx, 'budget:v1:user:u1', dailyBudget('u1', 1n))
    return { following }
  })
  await following
  expect(seen).toEqual(['manual'])
})
