import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ExchangeRecord } from 'model-gateway/observer'
import { createPurgeStore } from '../../request-log/purge-store.ts'
import { serviceAccount, user } from '../../request-log/testing.ts'
import { type Bench, now, openBench } from '../testing.ts'
import { type Piece, piecesOf } from './pieces.ts'

const LOGS = '/api/v1/admin/observability/request-logs'
const HISTOGRAM = `${LOGS}/histogram`
const HOUR_MS = 3_600_000

interface Page {
  readonly items: readonly { request_id: string; occurred_at: string }[]
  readonly page: number
  readonly page_size: number
  readonly total: number
  readonly total_exact: boolean
}

interface Histogram {
  readonly window_start: string
  readonly window_end: string
  readonly bucket_seconds: number
  readonly request_count: number
  readonly error_count: number
  readonly counted_from: string | null
  readonly buckets: readonly {
    bucket_start: string
    request_count: number
    error_count: number
  }[]
}

/** Requests of the last 40 hours, several in the same millisecond, in the order of their ids. */
const entries = Array.from({ length: 240 }, (_, n): [Date, Partial<ExchangeRecord>] => {
  const account = n % 5 === 0
  return [
    new Date(now.getTime() - Math.floor((239 - n) / 3) * 30 * 60_000 - 1),
    {
      requestId: `r${n}`,
      requestedModel: n % 3 === 0 ? 'fast' : `it's "odd"; drop table %_\\ 模型`,
      resolvedModel: 'm',
      provider: n % 4 === 0 ? undefined : 'main',
      principal: n % 7 === 0 ? undefined : account ? serviceAccount() : user({ id: `u${n % 2}` }),
      operation: n % 11 === 0 ? 'embeddings' : n % 6 === 0 ? 'responses' : 'chat_completions',
      statusCode: n % 10 === 0 ? 502 : 200,
      outcome: n % 10 === 0 ? 'upstream_error' : n % 9 === 0 ? 'client_abort' : 'success',
      tags: {
        service: n % 2 === 0 ? 'shop' : undefined,
        component: n % 8 === 0 ? 'cart' : undefined,
        env: 'prod',
        custom: n % 12 === 0 ? [{ key: 'run', value: `${n % 5}` }] : [],
      },
    },
  ]
})

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
  await bench.log(...entries)
})
afterAll(() => bench.stop())

/** Ids of the entries that match a filter, from a full scan. */
async function expected(where: string): Promise<string[]> {
  const rows = await bench.sql.unsafe<{ request_id: string }[]>(
    `select request_id from request_log.request_logs r where ${where}
      order by occurred_at desc, id desc`,
  )
  return rows.map(({ request_id }) => request_id)
}

const ids = ({ items }: Page) => items.map(({ request_id }) => request_id)

const tagged = (key: string, value: string) =>
  `exists (select from request_log.request_log_tags t
    where t.request_log_id = r.id and key = '${key}' and value = '${value}')`

const filters: readonly [query: object, where: string][] = [
  [{}, 'true'],
  [{ request_id: 'r7' }, "request_id = 'r7'"],
  [{ model_key: 'fast' }, "model_key = 'fast'"],
  [
    { model_key: `it's "odd"; drop table %_\\ 模型` },
    `model_key = 'it''s "odd"; drop table %_\\ 模型'`,
  ],
  [{ provider_key: 'main' }, "provider_key = 'main'"],
  [{ status_code: 502 }, 'status_code = 502'],
  [{ status_code: 200 }, 'status_code = 200'],
  [{ user_id: 'u1' }, "user_id = 'u1'"],
  [{ team_id: 'team-2' }, "team_id = 'team-2'"],
  [{ service_account_id: 'account-1' }, "service_account_id = 'account-1'"],
  [{ operation: 'embeddings' }, "operation = 'embeddings'"],
  [{ operation: 'chat_completions' }, "operation = 'chat_completions'"],
  [{ service: 'shop' }, "service = 'shop'"],
  [{ component: 'cart' }, "component = 'cart'"],
  [{ env: 'prod' }, "env = 'prod'"],
  [{ tag_key: 'run', tag_value: '2' }, tagged('run', '2')],
  [{ tag_key: 'env', tag_value: 'prod', service: 'shop' }, "service = 'shop'"],
  [
    { service: 'shop', tag_key: 'run', tag_value: '2' },
    `service = 'shop' and ${tagged('run', '2')}`,
  ],
  [
    { component: 'cart', status_code: 200, model_key: 'fast' },
    "component = 'cart' and status_code = 200 and model_key = 'fast'",
  ],
  [
    { user_id: 'u1', tag_key: 'run', tag_value: '3', operation: 'responses' },
    `user_id = 'u1' and operation = 'responses' and ${tagged('run', '3')}`,
  ],
  [
    { occurred_at_start: '2026-11-20T09:29:59.999Z', occurred_at_end: '2026-11-21T01:00:00+01:00' },
    "occurred_at >= '2026-11-20T09:29:59.999Z' and occurred_at < '2026-11-21T00:00:00Z'",
  ],
  [
    { occurred_at_end: '2026-11-20T20:59:59.999Z', env: 'prod' },
    "occurred_at < '2026-11-20T20:59:59.999Z'",
  ],
  [{ user_id: 'unknown' }, 'false'],
  [{ user_id: "' or true --" }, 'false'],
  [{ tag_key: "x' or 'a'='a", tag_value: "'); drop schema request_log cascade; --" }, 'false'],
  [{ request_id: '%' }, 'false'],
]

describe('the list', () => {
  test.each(filters)('with %p has the requests with %s', async (query, where) => {
    const all = await expected(where)
    const page = await bench.get<Page>(LOGS, { ...query, page_size: 200 })
    expect(ids(page)).toEqual(all.slice(0, 200))
    expect(page).toMatchObject({ page: 1, page_size: 200, total: all.length, total_exact: true })
    for (const [number, size] of [[2, 50] as const, [7, 7] as const, [999, 100] as const]) {
      const further = await bench.get<Page>(LOGS, { ...query, page: number, page_size: size })
      expect(ids(further)).toEqual(all.slice((number - 1) * size, number * size))
      expect(further.total).toBe(all.length)
    }
  })

  test('has every request once over all pages, for any window', async () => {
    const everything = await bench.sql<{ request_id: string; at: Date }[]>`
      select request_id, occurred_at as at from request_log.request_logs
      order by occurred_at desc, id desc`
    const minutes = fc.integer({ min: 0, max: 45 * 60 })
    await fc.assert(
      fc.asyncProperty(
        minutes,
        minutes,
        fc.boolean(),
        fc.boolean(),
        fc.integer({ min: 7, max: 90 }),
        async (from, length, open, unbounded, page_size) => {
          const start = new Date(now.getTime() - 44 * HOUR_MS + from * 60_000)
          const end = new Date(start.getTime() + (length + 1) * 60_000)
          const inside = everything.filter(
            ({ at }) => (open || at >= start) && (unbounded || at < end),
          )
          const query = {
            ...(!open && { occurred_at_start: start.toISOString() }),
            ...(!unbounded && { occurred_at_end: end.toISOString() }),
            page_size,
          }
          const seen: string[] = []
          for (let page = 1; ; page++) {
            const reply = await bench.get<Page>(LOGS, { ...query, page })
            expect(reply.total).toBe(inside.length)
            if (reply.items.length === 0) break
            seen.push(...ids(reply))
          }
          expect(seen).toEqual(inside.map(({ request_id }) => request_id))
        },
      ),
      { numRuns: 25 },
    )
  }, 60_000)

  test('clamps the page size', async () => {
    expect(await bench.get<Page>(LOGS, { page_size: 0 })).toMatchObject({ page_size: 1 })
    expect(await bench.get<Page>(LOGS, { page_size: 5000 })).toMatchObject({ page_size: 200 })
    expect(await bench.get<Page>(LOGS)).toMatchObject({ page: 1, page_size: 100 })
  })

  test('shows a row as stored', async () => {
    const { items } = await bench.get<Page>(LOGS, { request_id: 'r12' })
    const [row] = await bench.sql`
      select * from request_log.request_logs where request_id = 'r12'`
    const { id, cost_pico_usd, ...columns } = row as Record<string, unknown>
    expect(items[0]).toMatchObject({
      ...Object.fromEntries(
        Object.entries(columns).map(([name, value]) => [
          name,
          typeof value === 'bigint'
            ? Number(value)
            : value instanceof Date
              ? value.toISOString()
              : value,
        ]),
      ),
      request_log_id: id,
      cost_usd: '9007.199254740993',
      payload_policy: { capture_mode: 'redacted_payloads', version: 'builtin:v1' },
      tags: { service: 'shop', env: 'prod', run: '2' },
      attempts: [{ attempt_number: 1, provider_key: 'main', status: 'success', latency_ms: 13 }],
    })
    expect(cost_pico_usd).toBe(9_007_199_254_740_993n)
  })

  test.each([
    [{ tag_key: 'run' }, 'query tag_value: requires tag_key'],
    [{ tag_value: 'x' }, 'query tag_key: requires tag_value'],
    [{ occurred_at_start: 'now' }, 'query occurred_at_start: must be a valid RFC 3339 time'],
    [
      { occurred_at_end: '2026-11-31T00:00:00Z' },
      'query occurred_at_end: must be a valid RFC 3339 time',
    ],
    [
      { occurred_at_start: '2026-11-21T00:00:00Z', occurred_at_end: '2026-11-20T00:00:00Z' },
      'query occurred_at_end: must be after occurred_at_start',
    ],
  ])('%p is refused', async (query, message) => {
    await expect(bench.get(LOGS, query)).rejects.toThrow(message)
    await expect(bench.get(HISTOGRAM, query)).rejects.toThrow(message)
  })
})

describe('the histogram', () => {
  test.each(filters)('with %p counts the requests with %s', async (query, where) => {
    const end = 'occurred_at_end' in query ? new Date(String(query.occurred_at_end)) : now
    for (const hours of [0.2, 3, 14, 24, 44]) {
      const start = new Date(end.getTime() - hours * HOUR_MS)
      const window = { occurred_at_start: start.toISOString(), occurred_at_end: end.toISOString() }
      const reply = await bench.get<Histogram>(HISTOGRAM, { ...window, ...query })
      const rows = await bench.sql.unsafe<{ at: Date; failed: boolean }[]>(
        `select occurred_at as at, outcome = 'upstream_error' as failed
          from request_log.request_logs r where ${where} and occurred_at >= '${reply.window_start}'
            and occurred_at < '${reply.window_end}'`,
      )
      expect(reply.counted_from).toBeNull()
      expect(reply.buckets.length).toBeLessThanOrEqual(61)
      for (const [i, { bucket_start, ...counts }] of reply.buckets.entries()) {
        const from = Date.parse(bucket_start)
        const inside = rows.filter(
          ({ at }) => at.getTime() >= from && at.getTime() < from + reply.bucket_seconds * 1000,
        )
        expect([i, counts]).toEqual([
          i,
          { request_count: inside.length, error_count: inside.filter((r) => r.failed).length },
        ])
      }
      expect(reply.request_count).toBe(rows.length)
    }
  })

  test('covers the last day by default', async () => {
    const reply = await bench.get<Histogram>(HISTOGRAM)
    expect(reply.window_end).toBe(now.toISOString())
    expect(reply.window_start).toBe('2026-11-20T10:30:00.000Z')
    expect(reply.bucket_seconds).toBe(1800 * 2)
    const earlier = await bench.get<Histogram>(HISTOGRAM, {
      occurred_at_end: '2026-11-20T00:00:00Z',
    })
    expect(earlier.window_start).toBe('2026-11-19T00:00:00.000Z')
  })

  test.each([
    [{ occurred_at_start: '2026-11-22T00:00:00Z' }, 'occurred_at_start: must be before now'],
    [{ occurred_at_start: '2025-01-01T00:00:00Z' }, 'at most 400 days'],
  ])('%p is refused', async (query, message) => {
    await expect(bench.get(HISTOGRAM, query)).rejects.toThrow(message)
  })
})

test('purged requests are in no list, total or histogram, and the rest stays', async () => {
  const own = await openBench()
  try {
    await own.log(...entries)
    const cutoff = new Date(now.getTime() - 20.3 * HOUR_MS)
    const database = { sql: own.sql, schema: 'request_log' } as never
    const deleted = await createPurgeStore(database).purge(cutoff)
    const left = entries.length - Number(deleted)
    expect(await own.get<Page>(LOGS)).toMatchObject({ total: left })
    const last = await own.get<Page>(LOGS, { page: left, page_size: 1 })
    expect(last.items).toHaveLength(1)
    expect(Date.parse(last.items[0]?.occurred_at as string)).toBeGreaterThanOrEqual(
      cutoff.getTime(),
    )
    expect((await own.get<Page>(LOGS, { page: left + 1, page_size: 1 })).items).toEqual([])
    const start = new Date(now.getTime() - 44 * HOUR_MS).toISOString()
    const counts = await own.get<Histogram>(HISTOGRAM, { occurred_at_start: start })
    expect(counts.request_count).toBe(left)
  } finally {
    await own.stop()
  }
})

test('with filters only the newest matches are counted and paged through', async () => {
  const own = await openBench()
  try {
    await own.log([now])
    await own.sql`
      insert into request_log.request_logs (id, occurred_at, request_id, operation, stream,
        status_code, outcome, latency_ms, agent_harness_key, agent_harness_label, config_version,
        metadata_json)
      select gen_random_uuid(), ${now}::timestamptz - n * interval '1 second', n, 'responses', false,
        200, 'success', 1, 'unknown', 'Unknown', 'v', '{}'
      from generate_series(1, 20100) n`
    const query = { operation: 'responses', page_size: 200 }
    const first = await own.get<Page>(LOGS, query)
    expect(first).toMatchObject({ total: 10_000, total_exact: false })
    const last = await own.get<Page>(LOGS, { ...query, page: 50 })
    expect(last.items[199]?.request_id).toBe('10000')
    await expect(own.get(LOGS, { ...query, page: 51 })).rejects.toThrow(
      'query page: with filters, only the newest 10000 matches can be paged through',
    )
    const further = { ...query, occurred_at_end: last.items[199]?.occurred_at }
    expect((await own.get<Page>(LOGS, further)).items[0]?.request_id).toBe('10001')

    const all = await own.get<Page>(LOGS, { page: 101, page_size: 200 })
    expect(all).toMatchObject({ total: 20_101, total_exact: true })
    expect(all.items).toHaveLength(101)

    const counts = await own.get<Histogram>(HISTOGRAM, { operation: 'responses' })
    expect(counts.request_count).toBe(20_000)
    expect(counts.counted_from).toBe(new Date(now.getTime() - 20_000_000).toISOString())
    const unfiltered = await own.get<Histogram>(HISTOGRAM)
    expect(unfiltered).toMatchObject({ request_count: 20_100, counted_from: null })
  } finally {
    await own.stop()
  }
})

test('pieces cover the window without gap or overlap', async () => {
  const hour = (n: number): Piece => ({ start: n * HOUR_MS, requests: 10 + n, errors: n })
  const asked: [number, number][] = []
  const count = async (from: number, to: number) => {
    asked.push([from / HOUR_MS, to / HOUR_MS])
    return { requests: 1, errors: 0 }
  }
  const hours = [hour(5), hour(3), hour(2)]
  const pieces = await piecesOf(hours, 2.5 * HOUR_MS, 5.25 * HOUR_MS, count)
  expect(pieces).toEqual([
    { start: 5 * HOUR_MS, requests: 1, errors: 0 },
    hour(3),
    { start: 2.5 * HOUR_MS, requests: 1, errors: 0 },
  ])
  expect(asked).toEqual([
    [5, 5.25],
    [2.5, 3],
  ])
  const inside = await piecesOf([hour(5)], 5.1 * HOUR_MS, 5.2 * HOUR_MS, count)
  expect(inside).toHaveLength(1)
  expect(await piecesOf(hours, 0, Number.POSITIVE_INFINITY, count)).toEqual(hours)
})
