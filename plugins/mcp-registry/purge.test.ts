import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { Database } from 'model-gateway/plugin'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import plugin from './index.ts'
import { purgeRuns } from './purge.ts'

const DAY_MS = 86_400_000
const now = Date.UTC(2026, 10, 21, 12)
const servers = { one: Bun.randomUUIDv7(), two: Bun.randomUUIDv7() }

let testDatabase: TestDatabase
let database: Database
beforeAll(async () => {
  testDatabase = await createTestDatabase()
  const { id, migrations = [] } = plugin.manifest
  database = await testDatabase.forPlugin(id, migrations)
  for (const [key, id] of Object.entries(servers)) {
    await testDatabase.sql`
      insert into mcp_registry.external_mcp_servers (id, server_key, display_name, server_url,
        auth_mode, timeout_ms)
      values (${id}, ${key}, ${key}, 'https://a.test/', 'none', 1000)`
  }
})
afterAll(() => testDatabase?.drop())
beforeEach(async () => {
  await testDatabase.sql`delete from mcp_registry.external_mcp_discovery_runs`
})

async function write(server: keyof typeof servers, days: number, status = 'success') {
  const at = new Date(now - days * DAY_MS)
  await testDatabase.sql`
    insert into mcp_registry.external_mcp_discovery_runs
      (id, server_id, trigger, status, started_at, finished_at)
    values (${Bun.randomUUIDv7()}, ${servers[server]}, 'schedule', ${status}, ${at}, ${at})`
}

async function left() {
  const rows = await testDatabase.sql<{ key: string; at: Date }[]>`
    select s.server_key as key, r.started_at as at
    from mcp_registry.external_mcp_discovery_runs r
    join mcp_registry.external_mcp_servers s on s.id = r.server_id
    order by key, at`
  return rows.map(({ key, at }) => `${key} ${(now - at.getTime()) / DAY_MS}`)
}

test('older refreshes are deleted, except the last one of each server', async () => {
  for (const days of [200, 100, 91, 89, 1]) await write('one', days)
  for (const days of [200, 100]) await write('two', days)
  expect(await purgeRuns(database, new Date(now - 90 * DAY_MS))).toBe(4)
  expect(await left()).toEqual(['one 89', 'one 1', 'two 100'])
  expect(await purgeRuns(database, new Date(now - 90 * DAY_MS))).toBe(0)
})

test('the last refresh that said something of the tools stays, when the server was disabled during a later one', async () => {
  await write('one', 200)
  await write('one', 100, 'failed')
  await write('one', 95, 'disabled')
  expect(await purgeRuns(database, new Date(now))).toBe(1)
  expect(await left()).toEqual(['one 100', 'one 95'])
})

test('the last refresh of a disabled server stays', async () => {
  await write('one', 200)
  for (const days of [190, 180, 170]) await write('one', days, 'disabled')
  expect(await purgeRuns(database, new Date(now))).toBe(2)
  expect(await left()).toEqual(['one 200', 'one 170'])
})

test('replicas that purge at once delete each record once', async () => {
  for (let days = 1; days <= 40; days++) await write('one', days)
  const counts = await Promise.all(
    Array.from({ length: 4 }, () => purgeRuns(database, new Date(now))),
  )
  expect(counts.reduce((sum, count) => sum + count)).toBe(39)
})
