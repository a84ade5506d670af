import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openDatabase } from '../../kernel/storage/database.ts'
import { type AdminClient, adminClient } from '../../test/harness/admin.ts'
import { startTestGateway, type TestGateway } from '../../test/harness/gateway.ts'
import { expectBooksToBalance } from '../accounting/testing.ts'
import { createSeedCommand } from './command.ts'
import { createOwnerStore } from './owner-store.ts'
import { createStore } from './store.ts'

const REQUESTS = 4000
let gateway: TestGateway
let database: Awaited<ReturnType<typeof openDatabase>>
let root: AdminClient

beforeAll(async () => {
  gateway = await startTestGateway({
    providers: [{ id: 'sim', type: 'simulator' }],
    models: [{ id: 'm', routes: [{ provider: 'sim', upstream_model: 'x' }] }],
  })
  database = await openDatabase(gateway.databaseUrl)
  root = await adminClient(gateway)
  await seed(REQUESTS)
}, 60_000)
afterAll(async () => {
  await database.close()
  await gateway.stop()
})

async function seed(requests: number): Promise<string[]> {
  const lines: string[] = []
  const capability = database.forPlugin('plugin.demo-data')
  const store = { ...createStore(capability), ...createOwnerStore(capability) }
  const command = createSeedCommand(store, { now: () => new Date() }, () => {})
  await command.run(['--requests', String(requests)], (line) => lines.push(line))
  return lines
}

/** The one row of a query. */
const one = async (query: string): Promise<Record<string, unknown>> =>
  (await database.sql.unsafe<Record<string, unknown>[]>(query))[0] ?? {}

test('the requested number of requests is written, over 31 days, none in the future', async () => {
  // Right after midnight, today has no requests.
  expect(
    await one(`
      select count(*)::int as n, count(distinct occurred_at::date) >= 30 as days,
        max(occurred_at) <= now() + interval '1 minute' as past, count(distinct user_id) > 40 as many
      from request_log.request_logs`),
  ).toEqual({ n: REQUESTS, days: true, past: true, many: true })
})

test('ledger, counters, roll-ups and log agree to the pico-USD', async () => {
  await expectBooksToBalance(database.sql)
  const billed = (table: string) =>
    one(`select pricing_status, count(*) as n, sum(cost_pico_usd) as cost from ${table}
      where pricing_status is not null group by 1 order by 2 desc, 1`)
  expect(await billed('request_log.request_logs')).toEqual(
    await billed('accounting.usage_cost_events'),
  )
  expect(
    await one(`
      select count(*)::int as strangers from accounting.usage_cost_events u
      where not exists (
        select from request_log.request_logs l
        where l.request_id = u.request_id and l.total_tokens is not distinct from u.total_tokens
          and l.cost_pico_usd is not distinct from u.cost_pico_usd
          and l.user_id is not distinct from u.user_id)`),
  ).toEqual({ strangers: 0 })
  // As for real calls, a user's spend has no team.
  expect(
    await one(
      'select count(distinct owner_kind)::int as n from accounting.usage_cost_events where team_id is not null',
    ),
  ).toEqual({ n: 1 })
  const kinds = await database.sql`
    select distinct pricing_status from accounting.usage_cost_events order by 1`
  expect(kinds.map((row) => row.pricing_status)).toEqual([
    'legacy_estimated',
    'priced',
    'unpriced',
    'usage_missing',
  ])
})

test('the roll-ups of the log equal the sums of its rows', async () => {
  const differences = (rollup: string, rows: string) =>
    one(
      `select count(*)::int as n from ((${rollup} except ${rows}) union all (${rows} except ${rollup})) d`,
    )
  expect(
    await differences(
      `select bucket_start, owner_id, agent_harness_key, request_count, exposed_tool_sum,
        exposed_tool_requests, invoked_tool_sum, invoked_tool_requests from request_log.harness_rollups`,
      `select date_bin('12 hours', occurred_at, 'epoch'), coalesce(user_id, service_account_id),
        agent_harness_key, count(*), sum(coalesce(exposed_tool_count, 0)), count(exposed_tool_count),
        sum(coalesce(invoked_tool_count, 0)), count(invoked_tool_count)
      from request_log.request_logs group by 1, 2, 3`,
    ),
  ).toEqual({ n: 0 })
  expect(
    await one(`
      select (select sum(request_count) from request_log.traffic_rollups where facet = 'all')::int as n,
        (select sum(request_count) from request_log.request_log_hours)::int as hours`),
  ).toEqual({ n: REQUESTS, hours: REQUESTS })
  expect(
    await one(`
      select count(*)::int as n from request_log.request_logs l
      where (outcome in ('success', 'client_abort', 'upstream_error')) <> exists (
          select from request_log.request_log_attempts a where a.request_log_id = l.id)
        or has_payload <> exists (
          select from request_log.request_log_payloads p where p.request_log_id = l.id)`),
  ).toEqual({ n: 0 })
})

test('the control plane shows it', async () => {
  const report = await root.get<{
    totals: { spend_usd: string }
    owners: { owner_name: string }[]
  }>('/api/v1/admin/spend/report?days=30')
  const ledger = await one(`
    select trim(trailing '.' from trim(trailing '0' from (sum(cost_pico_usd) / 1e12)::numeric(30, 12)::text)) as usd
    from accounting.usage_cost_events where utc_day > (now() at time zone 'UTC')::date - 30`)
  expect(report.totals.spend_usd).toBe(String(ledger.usd))
  expect(report.owners.every(({ owner_name }) => owner_name !== null)).toBe(true)
  const budgets = await root.get<{ items: { alert_ready: boolean; exhausted: boolean }[] }>(
    '/api/v1/admin/spend/budgets',
  )
  expect(budgets.items.filter(({ exhausted }) => exhausted).length).toBeLessThan(
    budgets.items.length,
  )
})

test('can be repeated, and adds to the existing data', async () => {
  expect(await seed(500)).toEqual([expect.stringMatching(/^wrote 500 requests over 31 days in /)])
  expect(await one('select count(*)::int as n from request_log.request_logs')).toEqual({
    n: REQUESTS + 500,
  })
  await expectBooksToBalance(database.sql)
  expect(
    await one(`select count(*)::int as n from pg_class where relname like 'demo_load%'`),
  ).toEqual({ n: 0 })
}, 30_000)

test('rows that the database rejects leave nothing of their day, and end the command', async () => {
  await database.sql`
    alter table accounting.usage_cost_events add constraint none_more check (false) not valid`
  await expect(seed(500)).rejects.toThrow()
  await database.sql`alter table accounting.usage_cost_events drop constraint none_more`
  expect(await one('select count(*)::int as n from request_log.request_logs')).toEqual({
    n: REQUESTS + 500,
  })
  await expectBooksToBalance(database.sql)
}, 30_000)

test.each(['--requests 0', '--requests 1e9', '--count 5', '--requests', '--requests 1 2'])(
  'the arguments %s are refused',
  async (args) => {
    const capability = database.forPlugin('plugin.demo-data')
    const store = { ...createStore(capability), ...createOwnerStore(capability) }
    const command = createSeedCommand(store, { now: () => new Date() }, () => {})
    await expect(command.run(args.split(' '), () => {})).rejects.toThrow(/--/)
  },
)
