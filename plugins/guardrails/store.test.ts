import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { MOST_COUNTED, readCountedPage } from '../_shared/counted-list.ts'
import type { Page } from '../_shared/page.ts'
import { type Decision, encodeDecision } from './decision.ts'
import plugin from './index.ts'
import { createStore, type Store } from './store.ts'

const HOUR_MS = 3_600_000
const now = Date.UTC(2026, 10, 21, 12)

let testDatabase: TestDatabase
let store: Store
beforeAll(async () => {
  testDatabase = await createTestDatabase()
  const { id, migrations = [] } = plugin.manifest
  store = createStore(await testDatabase.forPlugin(id, migrations))
})
afterAll(() => testDatabase.drop())

function row(occurredAt: number, changes: Partial<Decision> = {}) {
  const decision: Decision = {
    id: Bun.randomUUIDv7('hex', occurredAt),
    occurredAt,
    requestId: 'r1',
    mcpInvocationId: undefined,
    phase: 'prompt',
    scope: 'global',
    mode: 'deny',
    evaluator: 'core.git',
    managedService: undefined,
    packId: 'core.git',
    match: undefined,
    action: 'allow',
    reasonCode: 'deterministic.allow',
    latencyMs: 0.123456,
    failureDisposition: undefined,
    transformation: 'none',
    contentSha256: 'ab'.repeat(32),
    ...changes,
  }
  return { json: encodeDecision(decision, 'v1'), payload: undefined, id: decision.id }
}

const everything = { equal: {}, start: undefined, end: undefined }

test('rows come back as they were written, once, the newest first', async () => {
  const rows = [3, 1, 2].map((hours) => row(now - hours * HOUR_MS))
  await store.write(rows)
  await store.write(rows)
  const page = await store.list(everything, { offset: 0, page_size: 2 })
  expect(page.total).toBe(3)
  expect(page.rows.map(({ id }) => id)).toEqual([rows[1]?.id, rows[2]?.id] as string[])
  expect(page.rows[0]).toEqual({
    id: rows[1]?.id as string,
    occurred_at: new Date(now - HOUR_MS),
    request_id: 'r1',
    mcp_invocation_id: null,
    phase: 'prompt',
    scope: 'global',
    mode: 'deny',
    evaluator: 'core.git',
    managed_service: null,
    pack_id: 'core.git',
    rule_id: null,
    action: 'allow',
    reason_code: 'deterministic.allow',
    latency_ms: 0.123,
    failure_disposition: null,
    transformation: 'none',
    content_sha256: 'ab'.repeat(32),
    config_version: 'v1',
  })
  const start = new Date(now - 2 * HOUR_MS)
  const within = (filter: object) =>
    store.list({ ...everything, ...filter }, { offset: 0, page_size: 9 })
  expect((await within({ start })).total).toBe(2)
  expect((await within({ end: start })).total).toBe(1)
})

test('only older decisions are deleted, in batches', async () => {
  const old = now - 90 * 24 * HOUR_MS
  // More than one statement deletes.
  await store.write(Array.from({ length: 5_100 }, (_, i) => row(old + i)))
  const kept = row(old + 6_000)
  await store.write([kept])
  expect(await store.purge(new Date(old + 6_000))).toBe(5_100)
  expect(await store.purge(new Date(old + 6_000))).toBe(0)
  const { rows } = await store.list(everything, { offset: 0, page_size: 9 })
  expect(rows.map(({ id }) => id)).toContain(kept.id)
})

test.each(['request_id', 'phase', 'action', 'evaluator', 'scope'] as const)(
  'a list by %s reads an index in the order of the list',
  async (name) => {
    const { sql } = testDatabase
    const value = { request_id: 'r1', phase: 'prompt', action: 'deny', evaluator: 'x', scope: 'x' }
    const plan = await sql.begin(async (tx) => {
      await tx`set local enable_seqscan = off`
      await tx`set local enable_sort = off`
      return await tx.unsafe(`explain select id from guardrails.guardrail_decisions
        where ${name} = '${value[name]}' order by id desc limit 100`)
    })
    const lines = plan.map((line) => line['QUERY PLAN']).join('\n')
    expect(lines).toContain(`guardrail_decisions_${name}_id_idx`)
    expect(lines).not.toContain('Sort')
  },
)

test('a list with more decisions than the counting limit says so', async () => {
  const scope = 'mcp_server:busy'
  const one = row(now, { scope })
  await store.write([one])
  await testDatabase.sql`
    insert into guardrails.guardrail_decisions
    select (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid()))).*
    from guardrails.guardrail_decisions d, generate_series(1, ${MOST_COUNTED + 5})
    where d.id = ${one.id}`
  const filter = { ...everything, equal: { scope } }
  const read = (page: Page) => store.list(filter, page)
  const told = await readCountedPage({ page_size: 1 }, read, ({ id }) => id)
  expect(told).toMatchObject({ total: MOST_COUNTED, total_exact: false })
})
