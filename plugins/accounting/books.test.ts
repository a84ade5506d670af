import { describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import type { SettlementRequest } from 'model-gateway/accounting'
import type { Directory } from 'model-gateway/identity'
import { picoUsd } from '../_shared/money.ts'
import identity from '../identity/index.ts'
import { createReports } from '../observability/_shared/store.ts'
import { rankingRoutes } from '../observability/rankings/routes.ts'
import requestLog from '../request-log/index.ts'
import type { BudgetEntry } from './budget.ts'
import { createBudgetStore } from './budget-store.ts'
import { focusFile } from './focus.ts'
import { RECENT_DAYS } from './pace.ts'
import { reportLists, reportOwners } from './report.ts'
import { createReportStore } from './report-store.ts'
import { type BudgetScope, scopeKey } from './scopes.ts'
import {
  call,
  closeAll,
  empty,
  expectBooksToBalance,
  openAccounting,
  serviceAccount,
  usage,
  useDatabase,
  user,
} from './testing.ts'
import { cadences, utcDay, windowOf } from './window.ts'

const own = useDatabase(identity, requestLog)

/** The days include the end of a month and the start of a week. */
const instants = [
  '2026-02-28T23:59:59.999Z',
  '2026-03-01T00:00:00.000Z',
  '2026-03-01T23:59:59.999Z',
  '2026-03-02T00:00:00.000Z',
  '2026-03-02T11:59:59.999Z',
  '2026-03-02T12:00:00.000Z',
]
const window = { start: utcDay(new Date('2026-02-25')), end: utcDay(new Date('2026-03-05')) }
const directory: Directory = { users: [], serviceAccounts: [] }

const scopes: readonly BudgetScope[] = [
  { kind: 'user', userId: 'u1' },
  { kind: 'user', userId: 'u2' },
  { kind: 'user_model', userId: 'u1', modelId: 'm1' },
  { kind: 'user_model', userId: 'u1', upstreamModel: 'vendor/small' },
  { kind: 'user_model', userId: 'u2', upstreamModel: 'vendor/dear' },
  { kind: 'service_account', serviceAccountId: 's1' },
]

const settled: fc.Arbitrary<SettlementRequest> = fc
  .record({
    // Few, so that owners reuse them.
    requestId: fc.constantFrom(...'abcdefghijkl'),
    principal: fc.constantFrom(user('u1'), user('u2'), serviceAccount('s1')),
    requestedModel: fc.constantFrom('fast', 'm1', '=cmd|'),
    resolvedModel: fc.constantFrom('m1', 'm2'),
    upstreamModel: fc.constantFrom('vendor/small', ' vendor/small ', 'vendor/dear', '@x,"y"\n'),
    dispatchedAt: fc.constantFrom(...instants).map((iso) => new Date(iso)),
    // A failed or aborted call has the usage so far, or none.
    succeeded: fc.boolean(),
    usage: fc.option(
      fc
        .tuple(fc.nat({ max: 10_000 }), fc.nat({ max: 300 }), fc.nat({ max: 2 }), fc.boolean())
        .map(([uncachedInput, output, web_search, doubtful]) =>
          usage({
            ...{ uncachedInput, output, uses: { web_search } },
            ...(doubtful && { doubt: 'client_abort' }),
          }),
        ),
      { nil: undefined },
    ),
  })
  .map((changes) =>
    call({ ...changes, pricing: { pricingProviderId: 'p', model: changes.upstreamModel.trim() } }),
  )
const budget: fc.Arbitrary<BudgetEntry> = fc
  .record({
    scope: fc.constantFrom(...scopes),
    cadence: fc.constantFrom(...cadences),
    amount: fc.oneof(fc.integer({ min: 2_000, max: 40_000 }), fc.nat({ max: 3_000_000_000 })),
    hardLimit: fc.constantFrom(true, true, true, false),
    active: fc.constantFrom(true, true, true, false),
  })
  .map(({ scope, active, cadence, amount, hardLimit }) => ({
    scope,
    source: 'manual',
    active,
    settings: {
      cadence,
      amountPicoUsd: BigInt(amount),
      hardLimit,
      unpriced: 'allow',
      timezone: 'UTC',
    },
  }))
/** Concurrent calls on two replicas, with budget changes in between. */
const history = fc
  .tuple(
    fc.array(budget, { maxLength: 4, size: 'max' }),
    fc.array(
      fc.oneof(
        { weight: 3, arbitrary: fc.array(settled, { minLength: 1, maxLength: 8, size: 'max' }) },
        { weight: 1, arbitrary: budget },
      ),
      { minLength: 1, maxLength: 6, size: 'max' },
    ),
  )
  .map(([budgets, events]) => [...budgets, ...events])

async function live(events: readonly (readonly SettlementRequest[] | BudgetEntry)[]) {
  await closeAll()
  await empty(own.sql)
  const replicas = [openAccounting(own.database), openAccounting(own.database)] as const
  for (const event of events) {
    if ('scope' in event) {
      await replicas[0].budget([event])
      await replicas[1].refresh()
    } else {
      await Promise.all(
        event.map(async (request, n) => {
          const replica = replicas[n % 2 === 0 ? 0 : 1]
          // A refused call is never sent.
          try {
            await replica.admit({ ...request, callerChoseRequestId: true })
          } catch {
            return
          }
          await replica.settle({ ...request, callerChoseRequestId: true })
        }),
      )
    }
  }
}

interface LedgerRow {
  readonly utc_day: string
  readonly user_id: string | null
  readonly service_account_id: string | null
  readonly model_key: string
  readonly resolved_model_key: string
  readonly upstream_model: string
  readonly pricing_status: string
  readonly cost_pico_usd: bigint | null
  readonly total_tokens: bigint | null
  readonly dispatched_at: Date
}

const costOf = (rows: readonly LedgerRow[]) =>
  rows.reduce((sum, row) => sum + (row.cost_pico_usd ?? 0n), 0n)
const ownerOf = (row: LedgerRow) => row.user_id ?? row.service_account_id ?? ''

/** Compares every shown number with the ledger rows. */
async function expectEverythingToAgree(): Promise<void> {
  const { sql } = own
  await expectBooksToBalance(sql)
  const ledger = await sql<LedgerRow[]>`select * from accounting.usage_cost_events`
  const charges = await sql<LedgerRow[]>`
    select * from accounting.budget_rejected_charges where reason = 'budget_exceeded'`

  const store = createReportStore(own.database)
  const rows = await store.report(window)
  const { totals, daily, models } = reportLists(rows, window)
  const owners = reportOwners(rows, directory)
  const shown = (line: typeof totals) => [
    picoUsd(line.spend_usd),
    line.request_count,
    line.unpriced_count,
    line.usage_missing_count,
    line.total_tokens,
    picoUsd(line.rejected_spend_usd),
  ]
  const expected = (matches: (row: LedgerRow) => boolean) => {
    const mine = ledger.filter(matches)
    const count = (status: string) => mine.filter((row) => row.pricing_status === status).length
    return [
      costOf(mine),
      mine.length,
      count('unpriced'),
      count('usage_missing'),
      Number(mine.reduce((sum, row) => sum + (row.total_tokens ?? 0n), 0n)),
      costOf(charges.filter(matches)),
    ]
  }
  expect(shown(totals)).toEqual(expected(() => true))
  for (const line of daily) expect(shown(line)).toEqual(expected((row) => row.utc_day === line.day))
  for (const line of owners) {
    expect(shown(line)).toEqual(expected((row) => ownerOf(row) === line.owner_id))
  }
  for (const line of models) {
    expect(shown(line)).toEqual(
      expected(
        (row) =>
          row.model_key === line.model_key && row.resolved_model_key === line.resolved_model_key,
      ),
    )
  }
  // Checks that each list is complete.
  for (const list of [daily, owners, models]) {
    const sum = list.reduce((cost, line) => cost + picoUsd(line.spend_usd), 0n)
    expect(sum).toBe(picoUsd(totals.spend_usd))
  }

  const exported = await store.charges(window)
  const file = await Array.fromAsync(focusFile(exported.rows, directory))
  expect(csvTotal(file.join(''))).toBe(costOf(ledger))
  expect([Number(exported.unpriced), Number(exported.usageMissing)]).toEqual([
    totals.unpriced_count,
    totals.usage_missing_count,
  ])

  for (const instant of instants) {
    const today = utcDay(new Date(instant))
    const { budgets } = await createBudgetStore(own.database).list(
      {},
      { limit: 200, offset: 0 },
      today,
    )
    for (const { scope, settings, window: seen } of budgets) {
      if (settings === undefined) throw new Error('a budget of this test has settings')
      const { start, end } = windowOf(settings.cadence, today)
      const within = (from: number) => (row: LedgerRow) => {
        const day = utcDay(new Date(row.utc_day))
        return day >= from && day < end && spends(row, scope)
      }
      const use = (from: number) => ({
        spent: costOf(ledger.filter(within(from))),
        rejected: costOf(charges.filter(within(from))),
      })
      const recent = use(Math.max(start, today - RECENT_DAYS + 1))
      expect(seen).toEqual({ start, end, ...use(start), recent })
    }
  }

  await expectLeaderboardToAgree(ledger)
}

interface Leaderboard {
  readonly leaders: readonly {
    user_id: string
    total_spend_usd: string
    total_requests: number
    most_used_model: string | undefined
  }[]
  readonly series: readonly {
    bucket_start: string
    values: readonly { user_id: string; spend_usd: string }[]
  }[]
}

/** The reply of the admin route if its seven days contain `instants`. */
async function readLeaderboard(): Promise<Leaderboard> {
  const clock = { now: () => new Date(instants.at(-1) as string) }
  const route = rankingRoutes(createReports(own.database), clock).find(({ path }) =>
    path.endsWith('/leaderboard'),
  )
  return (await route?.handle({ query: { range: '7d' } } as never)) as Leaderboard
}

const HALF_DAY_MS = 43_200_000

/** Compares ranks, sums, models and half days of the leaderboard with the ledger rows. */
async function expectLeaderboardToAgree(ledger: readonly LedgerRow[]): Promise<void> {
  const { leaders, series } = await readLeaderboard()
  const most = <T>(list: readonly T[], first: (a: T, b: T) => number) => list.toSorted(first)[0]
  const users = [...new Set(ledger.flatMap(({ user_id }) => user_id ?? []))]
  const expected = users
    .map((user_id) => {
      const mine = ledger.filter((row) => row.user_id === user_id)
      const models = Object.entries(Object.groupBy(mine, (row) => row.resolved_model_key)).map(
        ([model, rows = []]) => ({ model, requests: rows.length, spend: costOf(rows) }),
      )
      const dominant = most(
        models,
        (a, b) => b.requests - a.requests || compare(b.spend, a.spend) || compare(a.model, b.model),
      )
      return { user_id, spend: costOf(mine), requests: mine.length, model: dominant?.model }
    })
    .sort(
      (a, b) =>
        compare(b.spend, a.spend) || b.requests - a.requests || compare(a.user_id, b.user_id),
    )
  expect(
    leaders.map((leader) => ({
      user_id: leader.user_id,
      spend: picoUsd(leader.total_spend_usd),
      requests: leader.total_requests,
      model: leader.most_used_model,
    })),
  ).toEqual(expected)
  for (const { bucket_start, values } of series) {
    const start = Date.parse(bucket_start)
    for (const { user_id, spend_usd } of values) {
      const mine = ledger.filter(
        (row) =>
          row.user_id === user_id &&
          row.dispatched_at.getTime() >= start &&
          row.dispatched_at.getTime() < start + HALF_DAY_MS,
      )
      expect([bucket_start, picoUsd(spend_usd)]).toEqual([bucket_start, costOf(mine)])
    }
  }
  // The chart is complete, because it has room for all users.
  const charted = series.flatMap(({ values }) => values.map(({ spend_usd }) => picoUsd(spend_usd)))
  expect(charted.reduce((sum, spend) => sum + spend, 0n)).toBe(
    expected.reduce((sum, { spend }) => sum + spend, 0n),
  )
}

function compare<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function spends(row: LedgerRow, scope: BudgetScope): boolean {
  if (scope.kind === 'service_account') return row.service_account_id === scope.serviceAccountId
  if (row.user_id !== scope.userId) return false
  if (scope.kind === 'user') return true
  return 'modelId' in scope
    ? row.resolved_model_key === scope.modelId
    : row.upstream_model.trim() === scope.upstreamModel
}

/** Σ BilledCost, the first column. */
function csvTotal(text: string): bigint {
  const rows: { BilledCost: string }[] = parse(text, { columns: true })
  return rows.reduce((sum, { BilledCost }) => sum + picoUsd(BilledCost), 0n)
}

describe('after random histories', () => {
  test('line items = ledger = counters = budgets = report = export = leaderboard, to the pico-dollar', async () => {
    let histories = 0
    let rejected = 0
    await fc.assert(
      fc.asyncProperty(history, async (events) => {
        await live(events)
        await expectEverythingToAgree()
        const [counts] = await own.sql`
          select count(*)::int as n from accounting.budget_rejected_charges`
        rejected += counts?.n
        histories += 1
      }),
      { numRuns: 80 },
    )
    expect(histories).toBeGreaterThanOrEqual(80)
    // The histories are not empty: 80 of them have about 44 rejected charges.
    expect(rejected).toBeGreaterThan(10)
  }, 120_000)

  test.each([
    'update accounting.spend_counters set spent = spent + 1 where scope_key = $1',
    `update accounting.usage_rollups set cost_pico_usd = cost_pico_usd + 1 where owner_id = 'u1' and $1 <> ''`,
    `update accounting.usage_rollups set requests = requests - 1 where owner_id = 'u1' and $1 <> ''`,
    `update accounting.usage_cost_events set cost_pico_usd = cost_pico_usd + 1 where user_id = 'u1' and $1 <> ''`,
    `update accounting.usage_rollups set bucket_start = bucket_start + interval '12 hours' where $1 <> ''`,
    `update accounting.usage_cost_events set line_items = jsonb_set(line_items, '{0,1}', '101') where $1 <> ''`,
    `update accounting.usage_cost_events set line_items = line_items - 0 where $1 <> ''`,
    `update accounting.usage_cost_events set line_items = null where $1 <> ''`,
  ])('a difference of one pico-USD is detected: %s', async (fault) => {
    const scope = { kind: 'user', userId: 'u1' } as const
    const limit = { cadence: 'monthly', amountPicoUsd: 10n ** 12n, hardLimit: true } as const
    const entry = { scope, source: 'manual', active: true } as const
    const late = call({ dispatchedAt: new Date('2026-03-02T23:00:00Z') })
    await live([{ ...entry, settings: { ...limit, unpriced: 'allow', timezone: 'UTC' } }, [late]])
    await expectEverythingToAgree()
    await own.sql.unsafe(fault, [scopeKey(scope)])
    await expect(expectEverythingToAgree()).rejects.toThrow()
  })

  test.each([
    'cost_pico_usd = cost_pico_usd + 1',
    'requests = requests - 1',
    `bucket_start = bucket_start + interval '12 hours'`,
    `resolved_model_key = 'another'`,
  ])('a leaderboard that differs by %s is detected', async (fault) => {
    const late = call({ dispatchedAt: new Date('2026-03-02T01:00:00Z') })
    await live([[late, { ...late, requestId: 'second' }]])
    const ledger = await own.sql<LedgerRow[]>`select * from accounting.usage_cost_events`
    await expectLeaderboardToAgree(ledger)
    await own.sql.unsafe(`update accounting.usage_rollups set ${fault}`)
    await expect(expectLeaderboardToAgree(ledger)).rejects.toThrow()
  })
})
