import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AdminClient, adminClient, keyClient } from '../../harness/admin.ts'
import { createTestDatabase } from '../../harness/database.ts'
import { ended } from '../../harness/ended.ts'
import { eventually, startTestGateway, type TestGateway, testKey } from '../../harness/gateway.ts'
import { startUpstream, type Upstream } from '../../harness/upstream.ts'

const MAIN = new URL('../../../plugins/standard/main.ts', import.meta.url).pathname
const ADMIN = '/api/v1/admin'
const LOGS = `${ADMIN}/observability/request-logs`
const HOSTILE = `Rob"); drop table users; --<script>=cmd|' /C calc'!A0`

const user = (name: string, key: string, more: object = {}) => ({
  name,
  email: `${key}@example.com`,
  ...more,
  api_keys: [{ name: 'test', value: `literal.${testKey(key)}`, all_models: true }],
})

let upstream: Upstream
let gateway: TestGateway
let admin: AdminClient
/** User ids by the names of their keys. */
const ids: Record<string, string> = {}

async function call(key: string, more: Record<string, string> = {}, body: object = {}) {
  const response = await gateway.post(
    '/v1/chat/completions',
    { model: 'fast', messages: [{ role: 'user', content: 'Hello' }], ...body },
    { authorization: `Bearer ${testKey(key)}`, ...more },
  )
  await response.arrayBuffer()
  return response.status
}

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startTestGateway({
    providers: [
      { id: 'main', type: 'generic_compat', base_url: upstream.url, pricing_provider_id: 'own' },
    ],
    models: [
      { id: 'model', routes: [{ provider: 'main', upstream_model: 'up' }] },
      { id: 'fast', alias_of: 'model' },
      { id: 'unpriced', routes: [{ provider: 'main', upstream_model: 'other' }] },
    ],
    pricing: {
      overrides: [
        {
          pricing_provider_id: 'own',
          model: 'up',
          input_usd_per_million: '1.25',
          output_usd_per_million: '10.000001',
          cache_read_usd_per_million: '0.125',
        },
      ],
    },
    teams: [{ key: 'core', name: 'Core <b>' }],
    users: [
      user('Ada', 'ada', { team: { key: 'core', role: 'member' } }),
      user(HOSTILE, 'rob'),
      user('Silent', 'silent', { request_logging_enabled: false }),
    ],
    service_accounts: [
      {
        key: 'nightly',
        name: 'Nightly',
        team: 'core',
        budget: { cadence: 'daily', amount_usd: '100' },
        api_keys: [{ name: 'k', value: `literal.${testKey('nightly')}`, models: ['model'] }],
      },
    ],
  })
  admin = await adminClient(gateway)
  const rows = await gateway.sql<{ id: string; email: string }[]>`
    select id, email from identity.users`
  for (const { id, email } of rows) ids[email.split('@')[0] as string] = id

  const tools = [{ type: 'function', function: { name: 'f', parameters: {} } }]
  const tags = { 'x-gateway-service': 'shop', 'x-gateway-tags': 'run=7; a.b=x/y:z' }
  expect(await call('ada', { ...tags, 'user-agent': 'codex/1', 'x-request-id': 'known' })).toBe(200)
  expect(await call('ada', { 'user-agent': 'codex/1' }, { tools })).toBe(200)
  expect(await call('rob', { 'user-agent': 'aider/1' }, { stream: true })).toBe(200)
  expect(await call('rob', {}, { model: 'unpriced' })).toBe(200)
  expect(await call('silent')).toBe(200)
  expect(await call('nightly', {}, { model: 'model' })).toBe(200)
  expect(await call('ada', {}, { model: "x' or 1=1 --" })).toBe(404)
  expect(await call('nobody')).toBe(401)
  await eventually(async () => {
    const [row] = await gateway.sql`select count(*)::int as n from request_log.request_logs`
    return row?.n === 6 ? true : undefined
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

interface Log {
  readonly request_log_id: string
  readonly request_id: string
  readonly [member: string]: unknown
}
interface Page {
  readonly items: readonly Log[]
  readonly total: number
}

describe('request logs', () => {
  test('are those of the database, of everybody who is logged', async () => {
    const { items, total } = await admin.get<Page>(LOGS)
    const rows = await gateway.sql<{ id: string; status: number }[]>`
      select id, status_code as status from request_log.request_logs
      order by occurred_at desc, id desc`
    expect(total).toBe(6)
    expect(items.map((i) => [i.request_log_id, i.status_code])).toEqual(
      rows.map(({ id, status }) => [id, status]),
    )
    expect(items.some(({ user_id }) => user_id === ids.silent)).toBe(false)
    expect(items.map(({ owner_name }) => owner_name)).toContain(HOSTILE)
  })

  test('tell of a request what was asked, answered, attempted and tagged', async () => {
    const { items } = await admin.get<Page>(`${LOGS}?request_id=known`)
    expect(items).toHaveLength(1)
    const [item] = items as [Log]
    const attempts = [{ attempt_number: 1, provider_key: 'main', status: 'success' }]
    const common = {
      request_id: 'known',
      owner_kind: 'user',
      owner_name: 'Ada',
      user_id: ids.ada,
      team_name: 'Core <b>',
      model_key: 'fast',
      resolved_model_key: 'model',
      service: 'shop',
      tags: { service: 'shop', run: '7', 'a.b': 'x/y:z' },
      agent_harness_key: 'codex',
      exposed_tool_count: 0,
      filtered_tool_count: null,
      has_payload: true,
      payload_policy: { capture_mode: 'redacted_payloads', version: 'builtin:v1' },
      metadata_json: { operation: 'chat_completions', stream: false },
      attempts,
    }
    expect(item).toMatchObject(common)
    const detail = await admin.get<Log>(`${LOGS}/${item.request_log_id}`)
    expect(detail).toMatchObject({
      ...common,
      payload: {
        request: {
          headers: { authorization: '[redacted]' },
          body: { model: 'fast', messages: [{ role: 'user', content: 'Hello' }] },
        },
        response: { body: { model: 'fast' } },
      },
    })
    const { payload: _, ...summary } = detail
    expect(item).toEqual(summary as Log)
  })

  test.each([
    ['tag_key=run&tag_value=7', 1],
    ['service=shop', 1],
    ['model_key=fast', 3],
    [`model_key=${encodeURIComponent("x' or 1=1 --")}`, 1],
    ['model_key=x%27%20or%20%27%27%3D%27', 0],
    ['status_code=404', 1],
    // Whose key is not known is not logged.
    ['status_code=401', 0],
    ['service=%27);%20drop%20schema%20request_log%20cascade;--', 0],
  ])('with %s are %d', async (query, count) => {
    expect((await admin.get<Page>(`${LOGS}?${query}`)).total).toBe(count)
    const { request_count } = await admin.get<{ request_count: number }>(
      `${LOGS}/histogram?${query}`,
    )
    expect(request_count).toBe(count)
  })

  test('of a user, a team and a service account are theirs', async () => {
    const total = async (query: string) => (await admin.get<Page>(`${LOGS}?${query}`)).total
    expect(await total(`user_id=${ids.ada}`)).toBe(3)
    expect(await total(`user_id=${ids.silent}`)).toBe(0)
    const [account] = await gateway.sql`select id, team_id from identity.service_accounts`
    expect(await total(`service_account_id=${account?.id}`)).toBe(1)
    expect(await total(`team_id=${account?.team_id}`)).toBe(4)
  })

  test.each([
    ['page=0', 'page'],
    ['page=-1', 'page'],
    ['page=1.5', 'page'],
    ['page=1e300', 'page'],
    ['page=two', 'page'],
    ['page_size=x', 'page_size'],
    ['status_code=99', 'status_code: must be an HTTP status'],
    ['status_code=600', 'status_code'],
    ['status_code=ok', 'status_code: must be a whole number'],
    ['user_id=', 'user_id'],
    ['model_key=a%00b', 'model_key: contains the character U+0000'],
    ['model_key=a%0Ab', 'model_key: must be 1 to 512 characters without control characters'],
    [`model_key=${'x'.repeat(513)}`, 'model_key'],
    ['tag_key=run', 'tag_value: requires tag_key'],
    ['tag_value=7', 'tag_key: requires tag_value'],
    ['occurred_at_start=yesterday', 'occurred_at_start: must be a valid RFC 3339 time'],
    ['occurred_at_end=2026-02-30T00:00:00Z', 'occurred_at_end: must be a valid RFC 3339 time'],
    [
      'occurred_at_start=2026-11-02T00:00:00Z&occurred_at_end=2026-11-01T00:00:00Z',
      'occurred_at_end: must be after occurred_at_start',
    ],
    ['user=1', 'user: is not a known parameter'],
  ])('refuse %s and say why', async (query, message) => {
    const [status, code, said] = await admin.refused('GET', `${LOGS}?${query}`)
    expect([status, code]).toEqual([400, 'invalid_request'])
    expect(said).toContain(`query ${message}`)
  })

  test.each([
    Bun.randomUUIDv7(),
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    'known',
    "1' or '1'='1",
  ])('know nothing of %p', async (id) => {
    const [status, code] = await admin.refused('GET', `${LOGS}/${encodeURIComponent(id)}`)
    expect([status, code]).toEqual([404, 'not_found'])
  })
})

interface Ledger {
  readonly owner: string
  readonly requests: number
  readonly cost: bigint
  readonly tokens: number
}

async function ledger(): Promise<readonly Ledger[]> {
  return await gateway.sql<Ledger[]>`
    select coalesce(user_id, service_account_id) as owner, count(*)::int as requests,
      coalesce(sum(cost_pico_usd), 0)::bigint as cost, sum(total_tokens)::int as tokens
    from accounting.usage_cost_events group by 1`
}

const picoUsd = (usd: string) => {
  const [whole = '', fraction = ''] = usd.split('.')
  return BigInt(whole + fraction.padEnd(12, '0'))
}

describe('figures', () => {
  interface Leader {
    user_id: string
    user_name: string
    total_spend_usd: string
    total_requests: number
    most_used_model: string
    tool_cardinality_averages: Record<string, number | null>
  }

  test('of the leaderboard are those of the ledger', async () => {
    const { leaders, series } = await admin.get<{
      leaders: Leader[]
      series: { values: { user_id: string; spend_usd: string }[] }[]
    }>(`${ADMIN}/observability/leaderboard`)
    const rows = await ledger()
    expect(leaders).toHaveLength(3)
    for (const leader of leaders) {
      const row = rows.find(({ owner }) => owner === leader.user_id)
      expect(leader.total_requests).toBe(Number(row?.requests))
      expect(picoUsd(leader.total_spend_usd)).toBe(BigInt(row?.cost ?? -1))
      const charted = series
        .flatMap(({ values }) => values)
        .filter(({ user_id }) => user_id === leader.user_id)
        .reduce((sum, { spend_usd }) => sum + picoUsd(spend_usd), 0n)
      expect(charted).toBe(BigInt(row?.cost ?? -1))
    }
    expect(leaders.map(({ user_name }) => user_name).sort()).toEqual(['Ada', HOSTILE, 'Silent'])
    const of = (name: string) => leaders.find(({ user_name }) => user_name === name)
    expect(of('Ada')).toMatchObject({
      most_used_model: 'model',
      // Of three requests one brought a tool, and one was refused before its tools were counted.
      tool_cardinality_averages: { referenced_mcp_server_count: null },
    })
    const [tools] = await gateway.sql`
      select avg(exposed_tool_count)::float8 as average from request_log.request_logs
      where user_id = ${ids.ada as string}`
    expect(tools?.average).toBeGreaterThan(0)
    expect(of('Ada')?.tool_cardinality_averages.exposed_tool_count).toBeCloseTo(tools?.average)
    expect(of('Silent')?.tool_cardinality_averages.exposed_tool_count).toBeNull()
  })

  test('of coding agents are those of the log', async () => {
    const { leaders } = await admin.get<{
      leaders: { agent_harness_key: string; request_count: number }[]
    }>(`${ADMIN}/observability/harness-usage?range=31d`)
    const rows = await gateway.sql<{ key: string; count: number }[]>`
      select agent_harness_key as key, count(*)::int as count from request_log.request_logs
      group by 1 order by 2 desc, 1`
    expect(leaders.map((l) => [l.agent_harness_key, l.request_count])).toEqual(
      rows.map(({ key, count }) => [key, count]),
    )
  })

  test('of the overview are those of ledger and log', async () => {
    const { totals, models, providers, owners, recent_attempts } = await admin.get<{
      totals: Record<string, unknown>
      models: { model_key: string | null; request_count: number }[]
      providers: { provider_key: string | null; request_count: number }[]
      owners: { owner_name: string | null; request_count: number; spend_usd: string }[]
      recent_attempts: { items: { attempt_count: number }[] }
    }>(`${ADMIN}/overview`)
    const rows = await ledger()
    const sum = <T>(of: (row: Ledger) => T, add: (a: T, b: T) => T, start: T) =>
      rows.map(of).reduce(add, start)
    expect(totals).toMatchObject({
      request_count: 6,
      error_count: 1,
      ledger_count: 6,
      unpriced_count: 1,
      // The stream, whose provider does not say what it used.
      usage_missing_count: 1,
      total_tokens: sum(
        (row) => Number(row.tokens),
        (a, b) => a + b,
        0,
      ),
    })
    expect(picoUsd(String(totals.spend_usd))).toBe(
      sum(
        (row) => BigInt(row.cost),
        (a, b) => a + b,
        0n,
      ),
    )
    const counts = (list: readonly { request_count: number }[]) =>
      list.reduce((all, { request_count }) => all + request_count, 0)
    expect([counts(models), counts(providers), counts(owners)]).toEqual([6, 6, 6])
    expect(owners.map(({ owner_name }) => owner_name)).toContain(HOSTILE)
    expect(recent_attempts.items.reduce((all, item) => all + item.attempt_count, 0)).toBe(5)
  })

  test('of my own usage are those of the ledger, by session and by key', async () => {
    const rows = await ledger()
    for (const [key, owner] of [
      ['ada', ids.ada],
      ['silent', ids.silent],
    ] as const) {
      const caller = await keyClient(gateway.url, testKey(key))
      const { totals, owner_id } = await caller.get<{
        owner_id: string
        totals: { request_count: number; total_tokens: number }
      }>('/api/v1/me/usage')
      const row = rows.find((candidate) => candidate.owner === owner)
      expect(owner_id).toBe(owner as string)
      expect(totals).toMatchObject({
        request_count: Number(row?.requests),
        total_tokens: Number(row?.tokens),
      })
    }
    const { totals } = await admin.get<{ totals: { request_count: number } }>('/api/v1/me/usage')
    expect(totals.request_count).toBe(0)
  })

  test.each(['observability/leaderboard', 'observability/harness-usage', 'overview'])(
    'of %s are over 7 or 31 days only',
    async (path) => {
      const [status, code, message] = await admin.refused('GET', `${ADMIN}/${path}?range=30d`)
      expect([status, code]).toEqual([400, 'invalid_request'])
      expect(message).toContain('query range: must be 7d or 31d')
    },
  )
})

describe('retention', () => {
  async function run(args: string[], env: Record<string, string>) {
    const child = Bun.spawn([process.execPath, MAIN, ...args], {
      env: { ...process.env, ...env },
      cwd: tmpdir(),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const { out, ...rest } = await ended(child)
    return { out: out.trim(), ...rest }
  }

  test('the command deletes what its dry run counts, and neither ledger nor roll-ups', async () => {
    const read = async () =>
      await Promise.all(
        ['usage_cost_events', 'usage_rollups', 'spend_counters', 'budgets'].map(async (table) => [
          ...(await gateway.sql.unsafe(`select * from accounting.${table} t order by t::text`)),
        ]),
      )
    const before = await read()
    const board = await admin.get(`${ADMIN}/observability/leaderboard`)
    const now = new Date().toISOString()
    const env = { DATABASE_URL: gateway.databaseUrl }
    const args = ['purge-request-logs', '--before', now]
    const dry = await run([...args, '--dry-run'], env)
    expect(dry).toMatchObject({
      code: 0,
      out: `6 request logs from before ${now} would be deleted`,
    })
    expect((await admin.get<Page>(LOGS)).total).toBe(6)
    const purge = await run(args, env)
    expect(purge).toMatchObject({ code: 0, out: `6 request logs from before ${now} deleted` })
    expect(await admin.get<Page>(LOGS)).toMatchObject({ total: 0, items: [] })
    expect(await read()).toEqual(before)
    expect(await admin.get(`${ADMIN}/observability/leaderboard`)).toEqual(board)
    const wrong = await run(['purge-request-logs', '--retention', '2d'], env)
    expect(wrong.code).toBe(2)
    expect(wrong.err + wrong.out).toContain('must be 1d, 3d or 7d')
  }, 60_000)

  test('a schedule that comes more often than once a day is refused', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-purge-'))
    const database = await createTestDatabase('started')
    try {
      const file = join(folder, 'gateway.yaml')
      writeFileSync(
        file,
        'request_logging: { purge: { enabled: true, schedule: "*/5 * * * *" } }\n',
      )
      const { out, code } = await run(['check-config', '--config', file], {
        DATABASE_URL: database.url,
      })
      expect(code).toBe(1)
      expect(out).toContain('request_logging.purge.schedule')
      expect(out).toContain('must not run more often than once a day')
    } finally {
      await database.drop()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
