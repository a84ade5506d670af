import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Database } from 'model-gateway/plugin'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import plugin from './index.ts'
import { callOf, replica, SESSION } from './replica.fixture.ts'

let testDatabase: TestDatabase
let database: Database
beforeAll(async () => {
  testDatabase = await createTestDatabase()
  const { id, migrations = [] } = plugin.manifest
  database = await testDatabase.forPlugin(id, migrations)
})
afterAll(() => testDatabase?.drop())

/** Calls with these ids, and the call that a response with an id belongs to. */
async function answered(ids: readonly string[], answer: string, where: 'here' | 'elsewhere') {
  const { sql, schema } = database
  const table = sql(`${schema}.mcp_tool_invocations`)
  await sql`delete from ${table}`
  const caller = replica(database)
  for (const id of ids) await caller.open(callOf(id))
  await caller.write()
  const listener = where === 'here' ? caller : replica(database)
  const handle = await listener.reopen(SESSION, answer)
  handle?.close({ status: 'success', latencyMs: 1, responseBytes: 0 })
  await listener.write()
  const rows = await sql<{ id: string; type: string; status: string }[]>`
    select jsonrpc_id as id, jsonrpc_id_type as type, status from ${table} order by ${table}.id`
  return {
    kept: rows.map(({ id, type }) => `${type} ${id}`),
    closed: rows.filter(({ status }) => status === 'success').map(({ id }) => id),
  }
}

const [one, other] = ['9007199254740993', '9007199254740992']

test.each([
  ['here', [other, one], one, one],
  ['here', [one, other], other, other],
  ['here', ['1.0', '2'], '1', '1.0'],
  ['elsewhere', [other, one], one, one],
  ['elsewhere', [one, other], other, other],
  ['elsewhere', ['2', '1e3', '"1000"'], '1000', '1e3'],
  ['elsewhere', ['1000', '"1e3"'], '1e3', '1000'],
  ['elsewhere', ['7', '"7"'], '"7"', '7'],
] as const)(
  'an answer that arrives %s, to the calls %j: %s is one to %s',
  async (where, ids, answer, id) => {
    const { kept, closed } = await answered(ids, answer, where)
    expect(kept).toEqual(
      ids.map((json) => (json.startsWith('"') ? `string ${JSON.parse(json)}` : `number ${json}`)),
    )
    expect(closed).toEqual([id])
  },
)

test('a response to an unused id belongs to no call', async () => {
  const { closed } = await answered([one, '"9007199254740992"', '1.5'], other, 'elsewhere')
  expect(closed).toEqual([])
})
