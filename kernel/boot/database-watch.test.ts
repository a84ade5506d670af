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
