import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Database } from 'model-gateway/plugin'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import plugin from './index.ts'
import { dayOf, neededDays } from './partitions.ts'
import { payloadPolicy } from './policy.ts'
import { encodeRow } from './row.ts'
import { createStore } from './store.ts'
import { attempt, exchange, noon } from './testing.ts'

let testDatabase: TestDatabase
let database: Database
beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = await testDatabase.forPlugin(plugin.manifest.id, plugin.manifest.migrations ?? [])
  await createStore(database).ensurePartitions(neededDays(noon))
})
afterAll(() => testDatabase.drop())

async function partitions(table: string): Promise<string[]> {
  const found = await testDatabase.sql<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits
    where inhparent = ${`request_log.${table}`}::regclass order by 1`
  return found.map(({ name }) => name.replace('request_log.', ''))
}

describe('store', () => {
  const policy = payloadPolicy('summary_only')

  test('a batch that is written again, after an answer that was lost, changes nothing', async () => {
    const store = createStore(database)
    await store.ensurePartitions(neededDays(noon))
    const done = exchange({ attempts: [attempt(), attempt()] })
    const row = encodeRow(done, policy, noon.getTime())
    await store.write([row])
    await store.write([row])
    const [count] = await testDatabase.sql`
      select (select count(*)::int from request_log.request_logs
          where request_id = ${done.requestId}) as summaries,
        (select count(*)::int from request_log.request_log_attempts
          where request_id = ${done.requestId}) as attempts`
    expect(count).toEqual({ summaries: 1, attempts: 2 })
  })

  test('a row of a day without partition gets one', async () => {
    const late = new Date('2026-03-01T23:59:59.999Z')
    const store = createStore(database)
    await store.write([encodeRow(exchange(), policy, late.getTime())])
    expect(await partitions('request_logs')).toContain('request_logs_p20260301')
    expect(await partitions('request_log_attempts')).toContain('request_log_attempts_p20260301')
  })
})

describe('partitions', () => {
  const expected = (table: string) =>
    ['20', '21', '22', '23', '24', '25', '26', '27', '28'].map((day) => `${table}_p202611${day}`)

  test('set-up makes yesterday to a week ahead, replicas at once do not collide', async () => {
    const own = await createTestDatabase()
    try {
      const { id, migrations = [] } = plugin.manifest
      const store = createStore(await own.forPlugin(id, migrations))
      await Promise.all([1, 2, 3, 4].map(() => store.ensurePartitions(neededDays(noon))))
      for (const table of ['request_logs', 'request_log_attempts']) {
        const found = await own.sql<{ name: string; bounds: string }[]>`
          select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bounds
          from pg_inherits i join pg_class c on c.oid = i.inhrelid
          where i.inhparent = ${`request_log.${table}`}::regclass order by 1`
        expect(found.map(({ name }) => name)).toEqual(expected(table))
        expect(found[1]?.bounds).toBe(
          "FOR VALUES FROM ('2026-11-21 00:00:00+00') TO ('2026-11-22 00:00:00+00')",
        )
        const indexes = await own.sql`
          select indexdef from pg_indexes where tablename = ${`${table}_p20261121`}`
        expect(indexes).toHaveLength(2)
      }
    } finally {
      await own.drop()
    }
  })

  test('a partition that somebody detached is attached again', async () => {
    const store = createStore(database)
    const day = dayOf(Date.parse('2026-11-24'))
    await store.ensurePartitions([day])
    await testDatabase.sql`
      alter table request_log.request_logs detach partition request_log.request_logs_p20261124`
    await store.ensurePartitions([day])
    expect(await partitions('request_logs')).toContain('request_logs_p20261124')
  })

  test('rows are written while somebody reads the table', async () => {
    const reader = await testDatabase.sql.reserve()
    try {
      await reader`begin`
      await reader`select count(*) from request_log.request_logs`
      const store = createStore(database)
      await store.ensurePartitions([dayOf(Date.parse('2026-12-24'))])
      await store.write([encodeRow(exchange(), payloadPolicy('summary_only'), noon.getTime())])
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
