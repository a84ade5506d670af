import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { attempt, serviceAccount, user } from '../../request-log/testing.ts'
import { type Bench, idOf, now, openBench } from '../testing.ts'
import { percentile } from './latency.ts'

const OVERVIEW = '/api/v1/admin/overview'
const PROVIDERS = '/api/v1/admin/observability/providers'
const MINUTE_MS = 60_000
const ago = (minutes: number) => new Date(now.getTime() - minutes * MINUTE_MS)

interface Sum {
  readonly request_count: number
  readonly error_count: number
  readonly spend_usd: string
  readonly total_tokens: number
  readonly latency_p50_ms: number | null
  readonly latency_p95_ms: number | null
}

interface Overview {
  readonly totals: Sum & Record<string, unknown>
  readonly series: readonly (Sum & { bucket_start: string })[]
  readonly models: readonly (Sum & { model_key: string | null })[]
  readonly providers: readonly (Sum & { provider_key: string | null })[]
  readonly owners: readonly (Sum & { owner_id: string | null; owner_name: string | null })[]
  readonly budgets_near_end: readonly Record<string, unknown>[]
  readonly recent_attempts: { readonly items: readonly Record<string, unknown>[] }
}

describe('latencies', () => {
  const binOf = (ms: number) => Math.min(79, Math.floor(4 * Math.log2(Math.max(1, ms))))

  test('are accurate to 20 %', () => {
    const latency = fc.integer({ min: 1, max: 600_000 })
    fc.assert(
      fc.property(
        fc.array(latency, { minLength: 1, maxLength: 300 }),
        fc.constantFrom(0.5, 0.95),
        (list, share) => {
          const bins = new Map<number, number>()
          for (const ms of list) bins.set(binOf(ms), (bins.get(binOf(ms)) ?? 0) + 1)
          const exact = list.toSorted((a, b) => a - b)[Math.ceil(share * list.length) - 1] as number
          const told = percentile(bins, share) as number
          expect(Math.abs(told - exact)).toBeLessThanOrEqual(exact * 0.19 + 0.5)
        },
      ),
    )
  })

  test('are those of successful requests', () => {
    expect(percentile(new Map([[-1, 5]]), 0.5)).toBeNull()
    expect(percentile(new Map(), 0.5)).toBeNull()
    expect(
      percentile(
        new Map([
          [-1, 500],
          [40, 1],
        ]),
        0.5,
      ),
    ).toBeGreaterThan(1000)
  })
})

describe('the overview', () => {
  let bench: Bench
  let overview: Overview
  beforeAll(async () => {
    bench = await openBench()
    await bench.addUser(idOf(1), 'Ada')
    const ada = user({ id: idOf(1) })
    await bench.log(
      [ago(1), { principal: ada, latencyMs: 100, attempts: [attempt({ latencyMs: 90 })] }],
      [ago(2), { principal: ada, latencyMs: 100, attempts: [attempt({ latencyMs: 50 })] }],
      [
        ago(14),
        {
          principal: serviceAccount(),
          outcome: 'upstream_error',
          latencyMs: 9_000,
          attempts: [attempt({ status: 'provider_error', errorCode: 'upstream_timeout' })],
        },
      ],
      [ago(16), { principal: ada, latencyMs: 100, provider: 'other' }],
      [ago(3), { outcome: 'client_abort', attempts: [attempt({ status: 'client_abort' })] }],
      [
        ago(4),
        {
          outcome: 'invalid_request',
          attempts: [],
          ...{ provider: undefined, resolvedModel: undefined },
        },
      ],
      // A call that costs nothing, such as a token count, does not count as traffic.
      [ago(1), { principal: ada, priced: false, latencyMs: 9_999 }],
      [ago(2), { principal: ada, priced: false, outcome: 'upstream_error' }],
      // A row without an owner, of an earlier version, does not count.
      [ago(4), { outcome: 'invalid_request', attempts: [], principal: undefined }],
      [new Date('2026-11-14T11:59:59Z'), {}],
    )
    await bench.spend({
      owner: idOf(1),
      picoUsd: 10n ** 12n,
      requests: 2,
      tokens: 7,
      model: 'small-model',
      provider: 'main',
    })
    await bench.spend({
      owner: idOf(1),
      picoUsd: 5,
      requests: 1,
      tokens: 1,
      model: 'small-model',
      provider: 'other',
      at: '2026-11-20T12:00:00Z',
    })
    await bench.spend({
      owner: 'account-1',
      kind: 'service_account',
      requests: 3,
      status: 'unpriced',
      model: 'x',
    })
    await bench.spend({
      owner: 'account-1',
      kind: 'service_account',
      requests: 2,
      status: 'usage_missing',
      model: 'x',
    })
    await bench.spend({ owner: idOf(1), picoUsd: 99, at: '2026-11-14T00:00:00Z' })
    for (let n = 2; n < 14; n++) await bench.spend({ owner: idOf(n), picoUsd: 1000 + n })
    overview = await bench.get<Overview>(OVERVIEW)
  })
  afterAll(() => bench.stop())

  test('counts logged requests, errors and spend', () => {
    expect(overview.totals).toMatchObject({
      request_count: 6,
      error_count: 2,
      spend_usd: '1.000000012095',
      total_tokens: 8,
      prompt_tokens: 8,
      ledger_count: 20,
      priced_count: 15,
      unpriced_count: 3,
      usage_missing_count: 2,
      unpriced_share: 0.15,
      unmetered_share: 0.1,
      rejected_spend_usd: '0',
    })
    expect(overview.totals.latency_p50_ms).toBeGreaterThan(83)
    expect(overview.totals.latency_p95_ms).toBeLessThan(120)
  })

  test.each(['series', 'models', 'providers', 'owners'] as const)(
    '%s add up to the totals',
    (name) => {
      const list: readonly Sum[] = overview[name]
      const add = (member: 'request_count' | 'error_count' | 'total_tokens') =>
        list.reduce((sum, entry) => sum + entry[member], 0)
      expect(add('request_count')).toBe(6)
      expect(add('error_count')).toBe(2)
      expect(add('total_tokens')).toBe(8)
      const pico = (text: string) => BigInt(Math.round(Number(text) * 1e12))
      expect(list.reduce((sum, { spend_usd }) => sum + pico(spend_usd), 0n)).toBe(
        1_000_000_012_095n,
      )
    },
  )

  test('sums requests without a model, provider or owner, and names the ten owners that spent most', () => {
    expect(overview.models.map((m) => [m.model_key, m.request_count, m.spend_usd])).toEqual([
      ['small-model', 5, '1.000000000005'],
      ['m', 0, '0.00000001209'],
      ['x', 0, '0'],
      [null, 1, '0'],
    ])
    expect(overview.providers.map((p) => [p.provider_key, p.request_count, p.error_count])).toEqual(
      [
        ['main', 4, 1],
        ['p', 0, 0],
        ['other', 1, 0],
        [null, 1, 1],
      ],
    )
    const { owners } = overview
    expect(owners).toHaveLength(11)
    expect(owners[0]).toMatchObject({ owner_id: idOf(1), owner_name: 'Ada', request_count: 3 })
    expect(owners[1]).toMatchObject({ owner_id: idOf(13), owner_name: null, request_count: 0 })
    expect(owners[10]).toMatchObject({ owner_id: null, request_count: 3, error_count: 2 })
  })

  test('has every half day', () => {
    expect(overview.series).toHaveLength(14)
    expect(overview.series.at(-1)).toMatchObject({ request_count: 6, spend_usd: '1.00000001209' })
    expect(overview.series.at(-2)).toMatchObject({ request_count: 0, latency_p50_ms: null })
  })

  test('has the attempts of the last 15 minutes by provider and model', async () => {
    const expected = [
      {
        provider_key: 'main',
        model_key: 'small-model',
        attempt_count: 4,
        success_count: 2,
        error_count: 1,
        client_abort_count: 1,
        latency_p50_ms: 70,
        latency_p95_ms: 88,
        first_byte_p50_ms: 3,
        last_attempt_at: ago(1).toISOString(),
        last_error_at: ago(14).toISOString(),
        last_error_code: 'upstream_timeout',
      },
    ]
    expect(overview.recent_attempts.items).toEqual(expected)
    const alone = await bench.get<{ items: unknown; window_start: string }>(PROVIDERS)
    expect(alone.items).toEqual(expected)
    expect(alone.window_start).toBe('2026-11-21T10:15:00.000Z')
  })

  test('lists the budgets with at most 20 % left, in their current windows', async () => {
    const add = async (
      n: number,
      cadence: string,
      amount: number,
      spent: readonly [day: string, spent: number, rejected?: number][],
      { active = true, hard = true } = {},
    ) => {
      const key = `budget:v1:user:${idOf(n)}`
      await bench.sql`
        insert into accounting.budgets (budget_id, scope_key, scope_kind, user_id, budget_source,
          active, cadence, amount_pico_usd, hard_limit)
        values (${idOf(n)}, ${key}, 'user', ${idOf(n)}, 'manual', ${active}, ${cadence}, ${amount},
          ${hard})`
      for (const [day, sum, rejected = 0] of spent) {
        await bench.sql`
          insert into accounting.spend_counters values (${key}, ${day}, ${sum}, ${rejected})`
      }
    }
    // Saturday; the week started on the 16th.
    await add(1, 'weekly', 100, [
      ['2026-11-15', 90],
      ['2026-11-16', 40],
      ['2026-11-21', 40],
    ])
    await add(2, 'weekly', 100, [['2026-11-16', 79]])
    await add(3, 'daily', 100, [
      ['2026-11-20', 100],
      ['2026-11-21', 95, 10],
    ])
    await add(4, 'monthly', 100, [
      ['2026-10-31', 100],
      ['2026-11-01', 90],
    ])
    await add(5, 'monthly', 100, [['2026-11-01', 100]], { active: false })
    await add(6, 'daily', 0, [])
    // Charges that another budget's hard limit rejected do not reduce a soft one.
    await add(7, 'daily', 100, [['2026-11-21', 79, 1000]], { hard: false })
    await add(8, 'daily', 100, [['2026-11-21', 85, 1000]], { hard: false })
    const { budgets_near_end } = await bench.get<Overview>(OVERVIEW)
    expect(budgets_near_end.map((b) => [b.owner_id, b.used_share])).toEqual([
      [idOf(3), 1.05],
      [idOf(6), 1],
      [idOf(4), 0.9],
      [idOf(8), 0.85],
      [idOf(1), 0.8],
    ])
    expect(budgets_near_end[4]).toMatchObject({
      owner_kind: 'user',
      owner_name: 'Ada',
      cadence: 'weekly',
      amount_usd: '0.0000000001',
      current_window_spend_usd: '0.00000000008',
      current_window_rejected_usd: '0',
    })
  })
})
