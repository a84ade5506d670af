import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ExchangeRecord } from 'model-gateway/observer'
import type { Database } from 'model-gateway/plugin'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import plugin from './index.ts'
import { dayOf, neededDays } from './partitions.ts'
import { createStore } from './store.ts'
import { attempt, encodedRow, exchange, noon, serviceAccount, user } from './testing.ts'

let testDatabase: TestDatabase
let database: Database
beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = await testDatabase.forPlugin(plugin.manifest.id, plugin.manifest.migrations ?? [])
  await createStore(database).ensurePartitions(neededDays(noon))
})
afterAll(() => testDatabase.drop())

const tables = ['request_logs', 'request_log_payloads', 'request_log_tags', 'request_log_attempts']

async function partitions(table: string): Promise<string[]> {
  const found = await testDatabase.sql<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits
    where inhparent = ${`request_log.${table}`}::regclass order by 1`
  return found.map(({ name }) => name.replace('request_log.', ''))
}

describe('store', () => {
  const tags = {
    service: 'shop',
    component: undefined,
    env: undefined,
    custom: [{ key: 'run', value: '7' }],
  }

  async function counts(requestId: string) {
    const [found] = await testDatabase.sql`
      select (select count(*)::int from request_log.request_logs
          where request_id = ${requestId}) as summaries,
        (select count(*)::int from request_log.request_log_payloads
          where request_id = ${requestId}) as payloads,
        (select count(*)::int from request_log.request_log_tags
          where request_id = ${requestId}) as tags,
        (select count(*)::int from request_log.request_log_attempts
          where request_id = ${requestId}) as attempts`
    return found
  }

  test('a batch that is written again after a lost reply changes nothing', async () => {
    const store = createStore(database)
    const principal = user({ id: 'again' })
    const done = exchange({ attempts: [attempt(), attempt()], tags, principal })
    const row = encodedRow(done)
    await store.write([row])
    await store.write([row])
    expect(await counts(done.requestId)).toEqual({
      summaries: 1,
      payloads: 1,
      tags: 2,
      attempts: 2,
    })
    const [rollup] = await testDatabase.sql`
      select request_count from request_log.harness_rollups where owner_id = 'again'`
    expect(rollup?.request_count).toBe(1n)
  })

  test('a payload that arrives after its summary was written is ignored', async () => {
    const store = createStore(database)
    const done = exchange()
    const row = encodedRow(done)
    await store.write([{ ...row, payload: undefined }])
    await store.write([row])
    expect(await counts(done.requestId)).toMatchObject({ summaries: 1, payloads: 0 })
    const [summary] = await testDatabase.sql`
      select has_payload from request_log.request_logs where request_id = ${done.requestId}`
    expect(summary?.has_payload).toBe(false)
  })

  test('a row of a day without a partition creates it', async () => {
    const late = new Date('2026-03-01T23:59:59.999Z')
    const store = createStore(database)
    await store.write([encodedRow(exchange(), late.getTime())])
    for (const table of tables) expect(await partitions(table)).toContain(`${table}_p20260301`)
  })
})

describe('roll-ups', () => {
  const HOUR_MS = 3_600_000

  async function rollups(owner: string) {
    return [
      ...(await testDatabase.sql`
        select bucket_start, owner_kind, agent_harness_key, agent_harness_label,
          request_count::int as requests,
          exposed_tool_sum::int as exposed_sum, exposed_tool_requests::int as exposed,
          invoked_tool_sum::int as invoked_sum, invoked_tool_requests::int as invoked,
          filtered_tool_requests::int as filtered
        from request_log.harness_rollups where owner_id = ${owner} order by 1, 3`),
    ]
  }

  test('sum requests and tool counts by half day, owner and coding agent', async () => {
    const store = createStore(database)
    const principal = user({ id: 'roller' })
    const row = (changes: object, hours = 0) =>
      encodedRow(exchange({ principal, ...changes }), noon.getTime() + hours * HOUR_MS)
    await store.write([
      row({ exposedToolCount: 3, invokedToolCount: 2 }),
      row({ exposedToolCount: 0, invokedToolCount: 0 }),
      // An embedding, which has no tool counts.
      row({ exposedToolCount: undefined, invokedToolCount: undefined }),
      row({ userAgent: 'aider/1' }),
    ])
    await store.write([row({ exposedToolCount: 4, invokedToolCount: 1 }), row({}, 12)])
    const codex = { agent_harness_key: 'codex', agent_harness_label: 'Codex', owner_kind: 'user' }
    const first = new Date('2026-11-21T12:00:00Z')
    expect(await rollups('roller')).toEqual([
      {
        ...{ bucket_start: first, owner_kind: 'user', requests: 1, filtered: 0 },
        ...{ agent_harness_key: 'aider', agent_harness_label: 'Aider' },
        ...{ exposed_sum: 0, exposed: 1, invoked_sum: 0, invoked: 1 },
      },
      {
        ...{ bucket_start: first, ...codex, requests: 4, filtered: 0 },
        ...{ exposed_sum: 7, exposed: 3, invoked_sum: 3, invoked: 3 },
      },
      {
        ...{ bucket_start: new Date('2026-11-22T00:00:00Z'), ...codex, requests: 1, filtered: 0 },
        ...{ exposed_sum: 0, exposed: 1, invoked_sum: 0, invoked: 1 },
      },
    ])
  })

  test('include service accounts, and exclude requests without an owner', async () => {
    const store = createStore(database)
    await store.write([
      encodedRow(exchange({ principal: serviceAccount() })),
      // From a spool of an earlier version.
      encodedRow(exchange({ principal: undefined })),
    ])
    expect(await rollups('account-1')).toMatchObject([{ owner_kind: 'service_account' }])
    expect(await rollups('')).toEqual([])
  })

  test('by hour count every summary, and traffic roll-ups count successes by latency', async () => {
    const own = await createTestDatabase()
    try {
      const store = createStore(
        await own.forPlugin(plugin.manifest.id, plugin.manifest.migrations ?? []),
      )
      const row = (changes: Partial<ExchangeRecord>, hours = 0) =>
        encodedRow(exchange(changes), noon.getTime() + hours * HOUR_MS)
      const rows = [
        row({ latencyMs: 0 }),
        row({ latencyMs: 15 }),
        row({ latencyMs: 16 }),
        row({ latencyMs: 2 ** 31 - 1 }, 11),
        row({ outcome: 'client_abort' }, 11),
        row({ outcome: 'upstream_error', principal: serviceAccount() }, 12),
        row({
          outcome: 'invalid_request',
          ...{ principal: undefined, provider: undefined, resolvedModel: undefined },
        }),
      ]
      await store.write(rows)
      await store.write(rows)
      expect([
        ...(await own.sql`
          select extract(hour from hour)::int as hour, request_count::int as requests,
            error_count::int as errors from request_log.request_log_hours order by hour`),
      ]).toEqual([
        { hour: 0, requests: 1, errors: 1 },
        { hour: 12, requests: 4, errors: 1 },
        { hour: 23, requests: 2, errors: 0 },
      ])
      const lines = await own.sql<{ line: string }[]>`
        select concat_ws(' ', facet, nullif(key, ''), 'day ' || extract(day from bucket_start),
          extract(hour from bucket_start) || 'h', 'bin', latency_bin, request_count, error_count)
          as line
        from request_log.traffic_rollups order by facet, key, bucket_start, latency_bin`
      expect(lines.map(({ line }) => line)).toEqual([
        'all day 21 12h bin -1 1 0',
        'all day 21 12h bin 0 1 0',
        'all day 21 12h bin 15 1 0',
        'all day 21 12h bin 16 1 0',
        'all day 21 12h bin 79 1 0',
        'all day 22 0h bin -1 1 1',
        'model small-model day 21 12h bin -1 1 0',
        'model small-model day 21 12h bin 0 1 0',
        'model small-model day 21 12h bin 15 1 0',
        'model small-model day 21 12h bin 16 1 0',
        'model small-model day 21 12h bin 79 1 0',
        'model small-model day 22 0h bin -1 1 1',
        'owner service_account:account-1 day 22 0h bin -1 1 1',
        'owner user:user-1 day 21 12h bin -1 1 0',
        'owner user:user-1 day 21 12h bin 0 1 0',
        'owner user:user-1 day 21 12h bin 15 1 0',
        'owner user:user-1 day 21 12h bin 16 1 0',
        'owner user:user-1 day 21 12h bin 79 1 0',
        'provider main day 21 12h bin -1 1 0',
        'provider main day 21 12h bin 0 1 0',
        'provider main day 21 12h bin 15 1 0',
        'provider main day 21 12h bin 16 1 0',
        'provider main day 21 12h bin 79 1 0',
        'provider main day 22 0h bin -1 1 1',
      ])
    } finally {
      await own.drop()
    }
  })

  test('are built from the rows with an owner that an older gateway wrote', async () => {
    const own = await createTestDatabase()
    try {
      const { id, migrations = [] } = plugin.manifest
      const oldest = await own.forPlugin(id, migrations.slice(0, 1))
      const before = createStore(oldest)
      // A column that was added later, and that this store writes anyway.
      await own.sql`
        alter table request_log.request_log_attempts add column upstream_request_id text`
      const unowned = exchange({ principal: undefined, resolvedModel: undefined })
      await before.write([encodedRow(exchange()), encodedRow(exchange()), encodedRow(unowned)])
      await own.sql`alter table request_log.request_log_attempts drop column upstream_request_id`
      await own.forPlugin(id, migrations)
      const [found] = await own.sql`
        select (select sum(request_count)::int from request_log.request_log_hours) as hours,
          (select sum(request_count)::int from request_log.traffic_rollups
            where facet = 'all') as traffic`
      expect(found).toEqual({ hours: 3, traffic: 2 })
    } finally {
      await own.drop()
    }
  })

  test('are exact with concurrent replicas and repeated rows', async () => {
    const owners = Array.from({ length: 20 }, (_, n) => `busy-${n}`)
    const batches = Array.from({ length: 16 }, (_, batch) =>
      owners.map((_, n) => {
        // Each batch in a different order.
        const id = owners[(n * 7 + batch) % owners.length] as string
        return encodedRow(exchange({ principal: user({ id }) }))
      }),
    )
    const replicas = [createStore(database), createStore(database)]
    await Promise.all(batches.flatMap((rows) => replicas.map((store) => store.write(rows))))
    const [total] = await testDatabase.sql`
      select count(*)::int as rows, min(request_count)::int as least, max(request_count)::int as most
      from request_log.harness_rollups where owner_id like 'busy-%'`
    expect(total).toEqual({ rows: 20, least: 16, most: 16 })
    const [traffic] = await testDatabase.sql`
      select count(*)::int as rows, min(request_count)::int as least, max(request_count)::int as most
      from request_log.traffic_rollups where facet = 'owner' and key like 'user:busy-%'`
    expect(traffic).toEqual({ rows: 20, least: 16, most: 16 })
  })
})

describe('partitions', () => {
  const expected = (table: string) =>
    ['20', '21', '22', '23', '24', '25', '26', '27', '28'].map((day) => `${table}_p202611${day}`)

  test('set-up creates yesterday to a week ahead, also with concurrent replicas', async () => {
    const own = await createTestDatabase()
    try {
      const { id, migrations = [] } = plugin.manifest
      const store = createStore(await own.forPlugin(id, migrations))
      await Promise.all([1, 2, 3, 4].map(() => store.ensurePartitions(neededDays(noon))))
      for (const table of tables) {
        const found = await own.sql<{ name: string; bounds: string }[]>`
          select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bounds
          from pg_inherits i join pg_class c on c.oid = i.inhrelid
          where i.inhparent = ${`request_log.${table}`}::regclass order by 1`
        expect(found.map(({ name }) => name)).toEqual(expected(table))
        expect(found[1]?.bounds).toBe(
          "FOR VALUES FROM ('2026-11-21 00:00:00+00') TO ('2026-11-22 00:00:00+00')",
        )
        const indexes = (name: string) =>
          own.sql`select indexdef from pg_indexes where tablename = ${name}`
        const all = await indexes(table)
        expect(all.length).toBeGreaterThan(1)
        expect(await indexes(`${table}_p20261121`)).toHaveLength(all.length)
      }
    } finally {
      await own.drop()
    }
  })

  test('a detached partition is attached again', async () => {
    const store = createStore(database)
    const day = dayOf(Date.parse('2026-11-24'))
    await store.ensurePartitions([day])
    await testDatabase.sql`
      alter table request_log.request_logs detach partition request_log.request_logs_p20261124`
    await store.ensurePartitions([day])
    expect(await partitions('request_logs')).toContain('request_logs_p20261124')
  })

  test('rows are written while the table is read', async () => {
    const reader = await testDatabase.sql.reserve()
    try {
      await reader`begin`
      await reader`select count(*) from request_log.request_logs`
      const store = createStore(database)
      await store.ensurePartitions([dayOf(Date.parse('2026-12-24'))])
      await store.write([encodedRow(exchange())])
    } finally {
      await reader`rollback`
      reader.release()
    }
  })

  test('a look-up by id and its day reads one partition', async () => {
    const plan = await testDatabase.sql`
      explain (format json) select * from request_log.request_logs
      where id = ${Bun.randomUUIDv7()} and occurred_at >= '2026-11-21T00:00:00Z'
        and occurred_at < '2026-11-22T00:00:00Z'`
    const read = JSON.stringify(plan).match(/request_logs_p\d{8}"/g) ?? []
    expect(new Set(read)).toEqual(new Set(['request_logs_p20261121"']))
  })
})
