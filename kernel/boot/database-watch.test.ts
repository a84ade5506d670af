import { expect, test } from 'bun:test'
import { pino } from 'pino'
import type { Sql } from 'postgres'
import { createTestDatabase, testServer } from '../../test/harness/database.ts'
import { createDatabaseProxy } from '../../test/harness/database-proxy.ts'
import { eventually } from '../../test/harness/gateway.ts'
import { openDatabase } from '../storage/database.ts'
import { watchDatabase } from './database-watch.ts'

test('notices that a database becomes unreachable and reachable again', async () => {
  const main = await testServer()
  const database = await createTestDatabase()
  const name = new URL(database.url).pathname.slice(1)
  const lines: string[] = []
  const watch = watchDatabase(
    database,
    pino({}, { write: (line) => lines.push(JSON.parse(line).msg) }),
  )
  const becomes = (reachable: boolean) =>
    eventually(async () => (watch.reachable() === reachable ? true : undefined), 8000)
  expect(watch.reachable()).toBe(true)
  await main.sql.unsafe(`alter database ${name} allow_connections false`)
  await main.sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
  await becomes(false)
  await main.sql.unsafe(`alter database ${name} allow_connections true`)
  await becomes(true)
  watch.stop()
  await database.drop()
  expect(lines).toEqual(['the database cannot be reached', 'the database can be reached again'])
}, 20_000)

test('a database that does not answer is unreachable until it does', async () => {
  const answer = Promise.withResolvers<{ readOnly: boolean }[]>()
  const sql = (() => answer.promise) as unknown as Sql
  const watch = watchDatabase({ sql, endSilent: async () => 0 }, pino({ level: 'silent' }))
  await eventually(async () => (watch.reachable() ? undefined : true), 8000)
  answer.resolve([{ readOnly: false }])
  await eventually(async () => (watch.reachable() ? true : undefined))
  watch.stop()
}, 20_000)

test('sessions that began when the database could only be read are not kept when it can be written again', async () => {
  const main = await testServer()
  const database = await createTestDatabase()
  const name = new URL(database.url).pathname.slice(1)
  const { sql } = database
  const lines: string[] = []
  await sql`create table things (n int)`
  await main.sql.unsafe(`alter database ${name} set default_transaction_read_only = on`)
  await main.sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
  const write = () => sql`insert into things values (1)`
  const atOnce = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: 10 }, work))
  await eventually(async () => {
    const sessions = await atOnce(
      () => sql`select current_setting('transaction_read_only') as "readOnly", pg_sleep(0.1)`,
    ).catch(() => [])
    return sessions.length > 0 && sessions.every(([row]) => row?.readOnly === 'on')
      ? true
      : undefined
  })
  const watch = watchDatabase(
    database,
    pino({}, { write: (line) => lines.push(JSON.parse(line).msg) }),
  )
  await Bun.sleep(2500)
  await main.sql.unsafe(`alter database ${name} reset default_transaction_read_only`)
  await eventually(
    () =>
      atOnce(write).then(
        () => true,
        () => undefined,
      ),
    10_000,
  )
  watch.stop()
  await database.drop()
  expect(lines).not.toContain('the database cannot be reached')
}, 20_000)

test('closes connections that no longer respond, but not those of long statements', async () => {
  await using world = new AsyncDisposableStack()
  const database = await createTestDatabase()
  world.defer(database.drop)
  const proxy = await createDatabaseProxy(database.url)
  world.defer(proxy.close)
  const pool = await openDatabase(proxy.url)
  world.defer(pool.close)
  const lines: string[] = []
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line).msg) })
  const watch = watchDatabase(pool, log, 500)
  world.defer(watch.stop)
  let listening = 0
  await pool.forPlugin('plugin.x').listen(
    'x',
    () => {},
    () => void listening++,
  )
  const atOnce = (secs: number) =>
    Promise.allSettled(Array.from({ length: 10 }, () => pool.sql`select pg_sleep(${secs}::float)`))
  const outcomesOf = async (settled: ReturnType<typeof atOnce>) =>
    (await settled).map(({ status }) => status)

  expect(await outcomesOf(atOnce(3))).toEqual(Array(10).fill('fulfilled'))
  expect(listening).toBe(1)
  const told = 'closed database connections that no longer respond'
  expect(lines).not.toContain(told)

  proxy.lose()
  expect(await outcomesOf(atOnce(0))).toEqual(Array(10).fill('rejected'))
  expect(lines).toContain(told)
  expect(await outcomesOf(atOnce(0))).toEqual(Array(10).fill('fulfilled'))
  await eventually(async () => (watch.reachable() && listening > 1 ? true : undefined), 10_000)
}, 40_000)

test('closes no connection to a server that does not report its activity', async () => {
  const main = await testServer()
  const database = await createTestDatabase()
  const name = new URL(database.url).pathname.slice(1)
  await main.sql.unsafe(`alter database ${name} set track_activities = off`)
  const pool = await openDatabase(database.url)
  const watch = watchDatabase(pool, pino({ level: 'silent' }), 500)
  const [row] = await pool.sql`select pg_sleep(3)::text as slept`
  expect(row).toEqual({ slept: '' })
  watch.stop()
  await pool.close()
  await database.drop()
}, 20_000)
