import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Database } from '../../kernel/plugin/index.ts'
import requestLog from '../../plugins/request-log/index.ts'
import { dayOf } from '../../plugins/request-log/partitions.ts'
import { createPurgeStore } from '../../plugins/request-log/purge-store.ts'
import { createStore } from '../../plugins/request-log/store.ts'
import { encodedRow, exchange } from '../../plugins/request-log/testing.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import { MEASURED, REQUESTS } from './size.ts'

/**
 * How long a day takes to go, and what writers notice of it:
 *
 *     GATEWAY_LONG_REQUESTS=1000000 bun test ./test/long/purge.long.ts
 */

/** A busier day than the others of its month. */
const DAY_REQUESTS = REQUESTS / 10
const DAY_MS = 86_400_000
const day = new Date(Math.floor(Date.now() / DAY_MS - 3) * DAY_MS)

let own: TestDatabase
let database: Database
beforeAll(async () => {
  own = await createTestDatabase()
  database = await own.forPlugin(requestLog.manifest.id, requestLog.manifest.migrations ?? [])
  const today = dayOf(Date.now())
  await createStore(database).ensurePartitions([today - 3, today - 2, today])
  const at = `'${day.toISOString()}'::timestamptz + n * interval '86400 seconds' / ${DAY_REQUESTS}`
  const id = `('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`
  await own.sql.unsafe(`
    insert into request_log.request_logs (id, occurred_at, request_id, operation, stream,
      status_code, outcome, latency_ms, agent_harness_key, agent_harness_label, config_version,
      metadata_json, model_key, provider_key, user_id)
    select ${id}, ${at}, n, 'chat_completions', false, 200, 'success', n % 5000, 'unknown',
      'Unknown', 'v', '{}', 'm' || n % 10, 'p', 'u' || n % 100
    from generate_series(0, ${DAY_REQUESTS - 1}) n;
    insert into request_log.request_log_attempts (request_log_id, occurred_at, request_id,
      attempt_number, provider_key, provider_type, route_id, upstream_model, status, started_at,
      latency_ms)
    select ${id}, ${at}, n, 1, 'p', 't', 'r', 'u', 'success', now(), 1
    from generate_series(0, ${DAY_REQUESTS - 1}) n;
    insert into request_log.request_log_payloads (request_log_id, occurred_at, request_id,
      request_json, response_json)
    select ${id}, ${at}, n, json_build_object('body', repeat(md5(n::text), 20)), '{}'
    from generate_series(0, ${DAY_REQUESTS - 1}) n`)
  // What autovacuum does in the days before.
  await own.sql.unsafe('vacuum analyze')
}, 3_600_000)
afterAll(() => own.drop(), 60_000)

test('a whole day goes in about a second, and writers hardly notice', async () => {
  const store = createStore(database)
  const purges = createPurgeStore(database)
  const cutoff = new Date(day.getTime() + DAY_MS)
  const writes: number[] = []
  let purging = true
  const writer = (async () => {
    while (purging) {
      const start = performance.now()
      await store.write(Array.from({ length: 20 }, () => encodedRow(exchange(), Date.now())))
      writes.push(performance.now() - start)
    }
  })()
  await Bun.sleep(1_000)
  const before = writes.splice(0).toSorted((a, b) => a - b)
  let start = performance.now()
  expect(await purges.count(cutoff)).toBe(DAY_REQUESTS)
  const counted = performance.now() - start
  writes.splice(0)
  start = performance.now()
  expect(await purges.purge(cutoff)).toBe(DAY_REQUESTS)
  const purged = performance.now() - start
  purging = false
  await writer
  writes.sort((a, b) => a - b)
  const middle = (list: readonly number[]) => (list[list.length >> 1] ?? 0).toFixed(1)
  console.log(
    `${DAY_REQUESTS} rows: dry run ${counted.toFixed(0)} ms, purge ${purged.toFixed(0)} ms; ` +
      `a batch of 20 rows took ${middle(before)} ms before and ${middle(writes)} ms ` +
      `(at most ${(writes.at(-1) ?? 0).toFixed(1)} ms) during it`,
  )
  if (MEASURED) expect(purged).toBeLessThan(3_000)
}, 60_000)
