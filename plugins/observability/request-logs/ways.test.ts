import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ExchangeRecord } from 'model-gateway/observer'
import { createPurgeStore } from '../../request-log/purge-store.ts'
import { serviceAccount, user } from '../../request-log/testing.ts'
import type { Reader, Reports } from '../_shared/store.ts'
import { type Bench, now, openBench } from '../testing.ts'

const LOGS = '/api/v1/admin/observability/request-logs'
const HOUR_MS = 3_600_000

/** Makes scans always time out, by an error of Postgres in the middle of the report. */
const tooSlow = (reports: Reports): Reports => ({
  read: (work) =>
    reports.read((reader) =>
      work({
        unsafe: reader.unsafe,
        savepoint: (() =>
          reader.savepoint(async (nested) => {
            await nested.unsafe(`select set_config('statement_timeout', '1ms', true)`)
            await nested.unsafe('select pg_sleep(10)')
          })) as Reader['savepoint'],
      }),
    ),
})

/** Some values always occur together, some often, some once, and some never. */
const entries = Array.from({ length: 600 }, (_, n): [Date, Partial<ExchangeRecord>] => {
  const embeds = n % 3 === 0
  return [
    // Several in the same millisecond, over four days.
    new Date(now.getTime() - Math.floor(n / 2) * 19 * 60_000 - 1),
    {
      requestId: `r${n}`,
      requestedModel: n === 333 ? 'coder' : embeds ? 'embed' : 'chat',
      provider: n % 50 === 0 ? undefined : embeds ? 'p-embed' : 'p-chat',
      operation: embeds ? 'embeddings' : n % 7 === 0 ? 'responses' : 'chat_completions',
      statusCode: n % 10 === 1 ? 502 : 200,
      outcome: n % 10 === 1 ? 'upstream_error' : 'success',
      errorCode: n % 20 === 1 ? 'upstream_timeout' : undefined,
      userAgent: n % 3 === 0 ? 'codex_exec/0.171.0' : undefined,
      principal: n % 2 === 0 ? user({ id: `u${n % 4}` }) : serviceAccount(),
      tags: {
        service: n % 2 === 0 ? undefined : 'shop',
        component: n % 4 === 1 ? 'cart' : undefined,
        env: embeds ? 'staging' : 'prod',
        custom: n % 5 === 0 ? [{ key: 'run', value: `${n % 3}` }] : [],
      },
    },
  ]
})

type Query = Readonly<Record<string, string | number>>
const conditions: readonly fc.Arbitrary<Query>[] = Object.entries({
  model_key: ['embed', 'chat', 'coder'],
  provider_key: ['p-embed', 'p-chat'],
  status_code: [200, 502],
  user_id: ['u0', 'u2'],
  service_account_id: ['account-1'],
  operation: ['chat_completions', 'responses', 'embeddings', 'messages.count_tokens'],
  agent_harness_key: ['codex', 'unknown'],
  outcome: ['success', 'upstream_error'],
  error_code: ['upstream_timeout'],
  service: ['shop'],
  component: ['cart'],
  env: ['prod', 'staging'],
  tag_value: ['0', '1', '2'],
}).map(([name, some]) =>
  fc.constantFrom<string | number>(...some).map((value) => ({
    [name]: value,
    ...(name === 'tag_value' && { tag_key: 'run' }),
  })),
)
const hours = fc.integer({ min: 0, max: 100 })
const ago = (count: number) => new Date(now.getTime() - count * HOUR_MS).toISOString()
/** Two conditions or more, and sometimes a window. */
const queries: fc.Arbitrary<Query> = fc
  .tuple(
    fc
      .shuffledSubarray([...conditions], { minLength: 2, maxLength: 4 })
      .chain((some) => fc.tuple(...some)),
    fc.oneof(
      fc.constant({}),
      hours.map((count) => ({ occurred_at_start: ago(count + 1) })),
      fc.tuple(hours, hours).map(([end, length]) => ({
        occurred_at_start: ago(end + length + 1),
        occurred_at_end: ago(end),
      })),
    ),
  )
  .map(([some, window]) => Object.assign({}, ...some, window))

/** Ids of matches, from all rows. */
async function expected({ sql }: Bench, query: Query): Promise<string[]> {
  const rows = await sql<Record<string, unknown>[]>`
    select *, (select value from request_log.request_log_tags t
      where t.request_log_id = r.id and key = 'run') as run
    from request_log.request_logs r order by occurred_at desc, id desc`
  const { tag_key, tag_value, occurred_at_start, occurred_at_end, ...columns } = query
  const since = new Date(occurred_at_start ?? 0)
  const until = new Date(occurred_at_end ?? '9999-01-01')
  return rows
    .filter(
      (row) =>
        Object.entries(columns).every(([name, value]) => row[name] === value) &&
        (tag_key === undefined || row.run === tag_value) &&
        (row.occurred_at as Date) >= since &&
        (row.occurred_at as Date) < until,
    )
    .map((row) => row.request_id as string)
}

interface Page {
  readonly items: readonly { request_id: string }[]
}

describe.each([
  ['in time', (reports: Reports) => reports],
  ['out of time', tooSlow],
] as const)('combinations whose rows are read %s', (_, change) => {
  let bench: Bench
  beforeAll(async () => {
    bench = await openBench(change)
    await bench.log(...entries)
  })
  afterAll(() => bench.stop())

  const expectAll = async (query: Query) => {
    const all = await expected(bench, query)
    const page = await bench.get<Page>(LOGS, { ...query, page_size: 200 })
    expect(page.items.map(({ request_id }) => request_id)).toEqual(all.slice(0, 200))
    expect(page).toMatchObject({ total: all.length, total_exact: true })
    const further = await bench.get<Page>(LOGS, { ...query, page: 3, page_size: 11 })
    expect(further.items.map(({ request_id }) => request_id)).toEqual(all.slice(22, 33))
    expect(further).toMatchObject({ total: all.length, total_exact: true })
    const failed = all.filter((id) => Number(id.slice(1)) % 10 === 1)
    const start = new Date(now.getTime() - 200 * HOUR_MS).toISOString()
    const window = { occurred_at_start: start, ...query }
    expect(await bench.get(`${LOGS}/histogram`, window)).toMatchObject({
      request_count: all.length,
      error_count: failed.length,
      counted_from: null,
    })
    return all.length
  }

  test.each<[Query, number]>([
    [{ model_key: 'embed', operation: 'embeddings' }, 199],
    [{ model_key: 'embed', operation: 'chat_completions' }, 0],
    [{ model_key: 'coder', operation: 'embeddings', env: 'staging' }, 1],
    [{ model_key: 'chat', env: 'staging', status_code: 200 }, 0],
    [{ status_code: 200, operation: 'chat_completions' }, 309],
    [{ status_code: 200, provider_key: 'p-chat', service: 'shop' }, 160],
    [{ tag_key: 'run', tag_value: '1', env: 'prod' }, 40],
    [{ tag_key: 'run', tag_value: '1', env: 'staging' }, 0],
    [{ tag_key: 'run', tag_value: '0', env: 'staging', status_code: 502 }, 0],
  ])('%p has its %p requests, total and histogram', async (query, matches) => {
    expect(await expectAll(query)).toBe(matches)
  })

  test('each combination has its requests, total and histogram', async () => {
    let found = 0
    await fc.assert(
      fc.asyncProperty(queries, async (query) => {
        found += (await expectAll(query)) > 0 ? 1 : 0
      }),
      { numRuns: 40 },
    )
    expect(found).toBeGreaterThan(5)
  }, 60_000)

  test('purged requests are in none of them', async () => {
    const own = await openBench(change)
    try {
      await own.log(...entries)
      const cutoff = new Date(now.getTime() - 30.3 * HOUR_MS)
      await createPurgeStore({ sql: own.sql, schema: 'request_log' } as never).purge(cutoff)
      const query = { env: 'prod', status_code: 200 }
      const left = await expected(own, { ...query, occurred_at_start: cutoff.toISOString() })
      expect(left.length).toBeGreaterThan(50)
      expect(await own.get<Page>(LOGS, query)).toMatchObject({
        total: left.length,
        total_exact: true,
      })
    } finally {
      await own.stop()
    }
  })

  test('only the newest 10000 are counted and paged through', async () => {
    const own = await openBench(change)
    try {
      await own.log([now])
      await own.sql`
        insert into request_log.request_logs (id, occurred_at, request_id, operation, stream,
          status_code, outcome, latency_ms, agent_harness_key, agent_harness_label, config_version,
          metadata_json, env)
        select gen_random_uuid(), ${now}::timestamptz - n * interval '1 second', n, 'responses',
          false, 502, 'success', 1, 'unknown', 'Unknown', 'v', '{}', 'prod'
        from generate_series(1, 20100) n`
      const query = { operation: 'responses', status_code: 502, env: 'prod', page_size: 200 }
      expect(await own.get<Page>(LOGS, query)).toMatchObject({ total: 10_000, total_exact: false })
      const last = await own.get<Page>(LOGS, { ...query, page: 50 })
      expect(last.items[199]?.request_id).toBe('10000')
      await expect(own.get(LOGS, { ...query, page: 51 })).rejects.toThrow(
        'query page: with filters, only the newest 10000 matches can be paged through',
      )
      expect(await own.get(`${LOGS}/histogram`, query)).toMatchObject({
        request_count: 20_000,
        counted_from: new Date(now.getTime() - 20_000_000).toISOString(),
      })
    } finally {
      await own.stop()
    }
  }, 30_000)
})

test('two values are found fast on a day without statistics in Postgres', async () => {
  const bench = await openBench()
  const at = new Date(now.getTime() - 60_000)
  await bench.log([
    at,
    { provider: 'p', tags: { service: 's', component: 'c', env: 'e', custom: [] } },
  ])
  const columns = await bench.sql<{ name: string }[]>`
    select column_name as name from information_schema.columns
    where table_schema = 'request_log' and table_name = 'request_logs'`
  const made: Record<string, string> = {
    id: 'gen_random_uuid()',
    occurred_at: "occurred_at + n * interval '1 millisecond'",
    request_id: "'r' || n",
    component: "case when n % 2 = 0 then 'c' else 'other' end",
    env: "case when n % 4 = 0 then 'e' else 'other' end",
  }
  const names = columns.map(({ name }) => name)
  await bench.sql.unsafe(`
    insert into request_log.request_logs (${names.join(', ')})
    select ${names.map((name) => made[name] ?? name).join(', ')}
    from request_log.request_logs, generate_series(1, 20000) as n`)
  const began = performance.now()
  const query = { component: 'c', env: 'e' }
  const page = await bench.get<Page & { total: number }>(LOGS, query)
  const histogram = await bench.get<{ request_count: number }>(`${LOGS}/histogram`, query)
  expect(performance.now() - began).toBeLessThan(8000)
  expect(page.total).toBe(5001)
  expect(histogram.request_count).toBe(5001)
  await bench.stop()
}, 60_000)
