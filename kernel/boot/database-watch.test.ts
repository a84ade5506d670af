import { expect, test } from 'bun:test'
import { pino } from 'pino'
import { createTestDatabase, testServer } from '../../test/harness/database.ts'
import { eventually } from '../../test/harness/gateway.ts'
import { watchDatabase } from './database-watch.ts'

test('a database that goes and comes back is noticed', async () => {
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
