import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Database } from 'model-gateway/plugin'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import plugin from './index.ts'
import { purge } from './purge.ts'

const DAY_MS = 86_400_000
const now = Date.UTC(2026, 10, 21, 12)

let testDatabase: TestDatabase
let database: Database
beforeAll(async () => {
  testDatabase = await createTestDatabase()
  const { id, migrations = [] } = plugin.manifest
  database = await testDatabase.forPlugin(id, migrations)
})
afterAll(() => testDatabase.drop())

/** Calls at these times, each with a payload, and one tool list. */
async function write(times: readonly number[]) {
  const { sql, schema } = database
  for (const at of times) {
    const id = Bun.randomUUIDv7('hex', at)
    const occurred = new Date(at)
    await sql`insert into ${sql(`${schema}.mcp_tool_invocations`)}
      (id, occurred_at, request_id, owner_kind, api_key_id, server_key, tool_name, held_until)
      values (${id}, ${occurred}, ${String(at)}, 'user', 'key', 'tools', 'echo', now())`
    await sql`insert into ${sql(`${schema}.mcp_tool_invocation_payloads`)}
      (invocation_id, arguments_json) values (${id}, '{}')`
    await sql`insert into ${sql(`${schema}.request_mcp_token_overheads`)}
      (id, occurred_at, request_id, server_id, tool_count, token_count, source)
      values (${id}, ${occurred}, ${String(at)}, 'tools', 1, 1, 'estimate')`
  }
}

async function left() {
  const { sql, schema } = database
  const count = async (table: string) => {
    const [row] = await sql<{ n: number }[]>`
      select count(*)::int as n from ${sql(`${schema}.${table}`)}`
    return row?.n
  }
  return [
    await count('mcp_tool_invocations'),
    await count('mcp_tool_invocation_payloads'),
    await count('request_mcp_token_overheads'),
  ]
}

test('only older calls are deleted, to the millisecond, with their payloads', async () => {
  const before = now - 30 * DAY_MS
  await write([before - DAY_MS, before - 1, before, before + 1, now])
  expect(await purge(database, new Date(before))).toBe(2)
  expect(await left()).toEqual([3, 3, 3])
  expect(await purge(database, new Date(before))).toBe(0)
  expect(await purge(database, new Date(now + 1))).toBe(3)
  expect(await left()).toEqual([0, 0, 0])
})

test('replicas that purge at once delete each row once', async () => {
  await write(Array.from({ length: 40 }, (_, n) => now - n))
  const counts = await Promise.all(
    Array.from({ length: 4 }, () => purge(database, new Date(now + 1))),
  )
  expect(counts.reduce((sum, count) => sum + count)).toBe(40)
  expect(await left()).toEqual([0, 0, 0])
})
