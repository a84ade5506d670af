import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Database } from 'model-gateway/plugin'
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts'
import plugin from '../index.ts'
import { createListStore, filterColumns, type InvocationFilter } from './store.ts'

const ROWS = 600
const start = Date.UTC(2026, 10, 21, 12)
type Column = InvocationFilter['columns'][number]
type Row = { readonly id: string; readonly at: number } & Readonly<Record<Column[0], string>>

/**
 * Some values always occur together, some often, some once, some never; some share a millisecond.
 */
const rows: readonly Row[] = Array.from({ length: ROWS }, (_, n) => {
  const at = start - Math.floor(n / 2) * 60_000
  const status = n % 20 === 0 ? 'tool_error' : n % 33 === 0 ? 'started' : 'success'
  return {
    id: Bun.randomUUIDv7('hex', at),
    at,
    request_id: `r${n % 200}`,
    server_key: `server-${n % 5}`,
    tool_name: `tool-${n % 40}`,
    api_key_id: `key-${n % 7}`,
    user_id: `user-${n % 3}`,
    team_id: `team-${n % 2}`,
    status,
    policy_result: n % 5 === 1 ? 'denied' : n % 5 === 2 ? 'allowed' : 'not_evaluated',
  }
})

let testDatabase: TestDatabase
let database: Database
beforeAll(async () => {
  testDatabase = await createTestDatabase()
  const { id, migrations = [] } = plugin.manifest
  database = await testDatabase.forPlugin(id, migrations)
  const { sql, schema } = database
  await sql`insert into ${sql(`${schema}.mcp_tool_invocations`)} ${sql(
    rows.map(({ at, ...row }) => ({
      ...row,
      occurred_at: new Date(at),
      owner_kind: 'user',
      held_until: new Date(at),
    })),
  )}`
})
afterAll(() => testDatabase.drop())

const column = fc
  .constantFrom(...filterColumns)
  .chain((name) =>
    fc
      .constantFrom(...new Set([...rows.slice(0, 60).map((row) => row[name]), 'nothing']))
      .map((value): Column => [name, value]),
  )
const time = fc.option(
  fc.integer({ min: -310, max: 10 }).map((minutes) => new Date(start + minutes * 60_000)),
  { nil: undefined },
)

test('whatever is filtered, the page and the count are those of all rows, newest first', async () => {
  const store = createListStore(database)
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(column, { maxLength: 4, selector: ([name]) => name }),
      time,
      time,
      fc.record({ offset: fc.nat(20), page_size: fc.integer({ min: 1, max: 50 }) }),
      async (columns, from, to, page) => {
        const { rows: found, total } = await store.list({ columns, start: from, end: to }, page)
        const expected = rows
          .filter((row) => columns.every(([name, value]) => row[name] === value))
          .filter(
            ({ at }) =>
              (from === undefined || at >= from.getTime()) && at < (to?.getTime() ?? Infinity),
          )
          .map(({ id }) => id)
          .sort()
          .reverse()
        expect(total).toBe(expected.length)
        expect(found.map((item) => item.mcp_tool_invocation_id)).toEqual(
          expected.slice(page.offset, page.offset + page.page_size),
        )
      },
    ),
    { numRuns: 300 },
  )
}, 60_000)

test('a truncated payload is shown as its beginning', async () => {
  const { sql, schema } = database
  const id = rows[0]?.id ?? ''
  const tooLong = { truncated: true, size_bytes: 20_000, preview: '{"body":{"q":"xxx' }
  await sql`insert into ${sql(`${schema}.mcp_tool_invocation_payloads`)}
    (invocation_id, arguments_json, arguments_truncated, result_json)
    values (${id}, ${JSON.stringify(tooLong)}::text::jsonb, true, '{"body":null}')`
  expect(await createListStore(database).read(id)).toMatchObject({
    payload: {
      arguments: tooLong,
      arguments_truncated: true,
      result: null,
      result_truncated: false,
    },
  })
})
