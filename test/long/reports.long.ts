import { afterAll, beforeAll, expect, test } from 'bun:test'
import { availableParallelism, loadavg } from 'node:os'
import { type AdminClient, adminClient } from '../harness/admin.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import { type GatewayProcess, spawnGateway } from '../harness/process.ts'
import { MEASURED, REQUESTS, rounds } from './size.ts'

/**
 * How long lists and reports take over much traffic:
 *
 *     GATEWAY_LONG_REQUESTS=1000000 bun test ./test/long/reports.long.ts
 *
 * GATEWAY_LONG_DATABASE is the URL of a database that has been filled before.
 */
const FILLED = process.env.GATEWAY_LONG_DATABASE
const ROUNDS = rounds(20)
const LIMIT_MS = 150
/** Of several filters at once: over ten million requests some of them read many rows for few. */
const COMBINED_LIMIT_MS = 1_000
const HOUR_MS = 3_600_000

const MAIN = new URL('../../plugins/standard/main.ts', import.meta.url).pathname
const config = {
  providers: [{ id: 'sim', type: 'simulator' }],
  models: [{ id: 'demo', routes: [{ provider: 'sim', upstream_model: 'demo-1' }] }],
}

let database: TestDatabase | undefined
let gateway: GatewayProcess
let admin: AdminClient

beforeAll(async () => {
  database = FILLED === undefined ? await createTestDatabase() : undefined
  const databaseUrl = FILLED ?? (database as TestDatabase).url
  gateway = await spawnGateway(config, { databaseUrl })
  if (FILLED === undefined) {
    const start = performance.now()
    const seed = Bun.spawn([process.execPath, MAIN, 'seed-demo', '--requests', String(REQUESTS)], {
      env: { ...process.env, DATABASE_URL: databaseUrl },
      stdout: 'inherit',
      stderr: 'inherit',
    })
    expect(await seed.exited).toBe(0)
    console.log(`seeded in ${Math.round((performance.now() - start) / 1000)} s`)
    // What autovacuum does in the minutes after.
    await database?.sql.unsafe('vacuum analyze')
  }
  admin = await adminClient(gateway)
}, 7_200_000)

afterAll(async () => {
  await gateway.remove()
  await database?.drop()
}, 60_000)

interface Item {
  readonly request_log_id: string
  readonly [column: string]: unknown
}

/** Each query string once a round, so that caches are as warm as those of a busy day. */
async function measure(path: string): Promise<number[]> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const { status, ms } = await admin.request('GET', path)
    expect(status).toBe(200)
    times.push(ms)
  }
  return times.toSorted((a, b) => a - b)
}

const at = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] as number

/** Figures are worth something only when nothing else runs. */
const load = () =>
  `${loadavg()[0]?.toFixed(1)} processes want one of the ${availableParallelism()} processors`

test('every list and report answers in time', async () => {
  const logs = '/api/v1/admin/observability/request-logs'
  const { items, total } = await admin.get<{ items: Item[]; total: number }>(logs)
  const sample = (name: string) =>
    encodeURIComponent(String(items.find((item) => item[name] !== null)?.[name]))
  const filters = [
    ...['request_id', 'model_key', 'provider_key', 'user_id', 'team_id', 'service_account_id'],
    ...['service', 'component', 'env', 'operation'],
  ]
    .filter((name) => items.some((item) => item[name] !== null))
    .map((name) => `${name}=${sample(name)}`)
  const month = new Date(Date.now() - 31 * 24 * HOUR_MS).toISOString()
  const middle = new Date(Date.now() - 15 * 24 * HOUR_MS).toISOString()
  const queries = [
    '',
    `page=${Math.floor(total / 200)}&page_size=200`,
    `page=${Math.floor(total / 400)}&page_size=200`,
    `occurred_at_end=${middle}&page_size=200`,
    ...filters,
    'status_code=200',
    'status_code=429',
    'status_code=418',
    'operation=embeddings',
    'user_id=nobody',
    `status_code=200&${filters[1]}&page=50&page_size=200`,
    `status_code=429&${filters[2]}`,
    `env=prod&status_code=502`,
    'service=search-api&component=nothing',
    // Each value is frequent and they never come together, which only reading through shows.
    'env=prod&model_key=coder',
    'env=prod&model_key=coder&operation=responses',
    'env=prod&tag_key=env&tag_value=staging',
    // Most requests are chat completions, which no index has.
    'model_key=embed&operation=chat_completions',
  ]
  const paths = [
    ...queries.map((query) => `${logs}?${query}`),
    ...items.slice(0, 1).map(({ request_log_id }) => `${logs}/${request_log_id}`),
    `${logs}/histogram`,
    `${logs}/histogram?occurred_at_start=${month}`,
    `${logs}/histogram?status_code=200`,
    `${logs}/histogram?env=prod`,
    ...['env=prod&model_key=coder&operation=responses', 'model_key=embed&status_code=200'].map(
      (query) => `${logs}/histogram?${query}&occurred_at_start=${month}`,
    ),
    ...['7d', '31d'].flatMap((range) => [
      `/api/v1/admin/observability/leaderboard?range=${range}`,
      `/api/v1/admin/observability/harness-usage?range=${range}`,
      `/api/v1/admin/overview?range=${range}`,
      `/api/v1/me/usage?range=${range}`,
    ]),
    '/api/v1/admin/observability/providers',
    '/api/v1/admin/spend/report?days=7',
    '/api/v1/admin/spend/report?days=30',
    '/api/v1/admin/spend/focus.csv',
    '/api/v1/admin/spend/focus.csv?owner_kind=user',
    '/api/v1/admin/spend/budgets',
    '/api/v1/admin/spend/budget-alerts',
    '/api/v1/admin/spend/rejected-charges',
    '/api/v1/admin/users',
    '/api/v1/admin/service-accounts',
    '/api/v1/admin/teams',
    '/api/v1/admin/api-keys',
    '/api/v1/admin/audit-log',
    '/api/v1/admin/models',
    '/api/v1/admin/providers',
    '/api/v1/me/spend',
    '/api/v1/me/spend/focus.csv',
    '/api/v1/me/budgets',
  ]
  const slow: string[] = []
  console.log(`${total} request logs; p50 and p95 of ${ROUNDS} calls in ms; ${load()}`)
  for (const path of paths) {
    const times = await measure(path)
    const p95 = at(times, 0.95)
    console.log(`${at(times, 0.5).toFixed(1).padStart(8)} ${p95.toFixed(1).padStart(8)}  ${path}`)
    const limit = REQUESTS > 1_000_000 && path.includes('&') ? COMBINED_LIMIT_MS : LIMIT_MS
    if (p95 > limit) slow.push(path)
  }
  console.log(load())
  if (MEASURED) expect(slow).toEqual([])
}, 3_600_000)
