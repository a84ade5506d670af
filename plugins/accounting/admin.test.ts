import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import { type AdminClient, adminClient, keyClient } from '../../test/harness/admin.ts'
import {
  ada,
  adaKey,
  eventually,
  startTestGateway,
  type TestGateway,
  testKey,
} from '../../test/harness/gateway.ts'
import { startUpstream, type Upstream } from '../../test/harness/upstream.ts'

const botKey = testKey('bot')
const nobody = '01890000-0000-7000-8000-000000000000'
let upstream: Upstream
let gateway: TestGateway
let root: AdminClient
let adaId: string
let botId: string

const config = (changes: Record<string, unknown> = {}) => ({
  providers: [
    {
      id: 'up',
      type: 'generic_compat',
      base_url: upstream.url,
      auth: { mode: 'none' },
      pricing_provider_id: 'test',
    },
  ],
  models: [
    { id: 'm', routes: [{ provider: 'up', upstream_model: 'vendor/one' }] },
    { id: 'free', routes: [{ provider: 'up', upstream_model: 'vendor/unknown' }] },
    { id: 'short', alias_of: 'm' },
    { id: 'shorter', alias_of: 'short' },
  ],
  pricing: {
    overrides: [
      {
        pricing_provider_id: 'test',
        model: 'vendor/one',
        input_usd_per_million: '3',
        cache_read_usd_per_million: '3',
        output_usd_per_million: '15.000001',
      },
    ],
  },
  teams: [{ key: 'core', name: 'Core' }],
  users: [{ ...ada, name: '=Ada "A", x' }],
  service_accounts: [
    {
      key: 'bot',
      name: 'Bot',
      team: 'core',
      budget: { cadence: 'weekly', amount_usd: '5' },
      api_keys: [{ name: 'test', value: `literal.${botKey}`, models: ['m'] }],
    },
  ],
  ...changes,
})

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startTestGateway(config())
  root = await adminClient(gateway)
  const [user] = await gateway.sql`select id from identity.users where email = 'ada@example.com'`
  const [account] = await gateway.sql`select id from identity.service_accounts`
  adaId = user?.id
  botId = account?.id
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const BUDGETS = '/api/v1/admin/spend/budgets'
const chat = (key: string, model = 'm') =>
  gateway.post(
    '/v1/chat/completions',
    { model, messages: [{ role: 'user', content: 'hi' }] },
    { authorization: `Bearer ${key}` },
  )

interface Item {
  scope_key: string
  active: boolean
  budget_source: string
  exhausted: boolean
  alert_ready: boolean
  current_window_spend_usd: string | null
}
interface List {
  items: Item[]
  total: number
}

describe('budgets', () => {
  const daily = (amount_usd: string, more: object = {}) => ({
    scope: { kind: 'user', user_id: adaId },
    cadence: 'daily',
    amount_usd,
    ...more,
  })

  test('of the config are listed with their owner and source', async () => {
    const { items, total } = await root.get<List>(`${BUDGETS}?scope_kind=service_account`)
    expect(total).toBe(1)
    expect(items[0]).toMatchObject({
      scope: { kind: 'service_account', service_account_id: botId },
      scope_key: `budget:v1:service_account:${botId}`,
      owner_kind: 'service_account',
      owner_name: 'Bot',
      active: true,
      settings: { cadence: 'weekly', amount_usd: '5', hard_limit: true, timezone: 'UTC' },
      budget_source: 'config_user_override',
      current_window_spend_usd: '0',
      exhausted: false,
      alert_ready: false,
    })
  })

  test('are set, take effect at once, are replaced and deactivated, each with an audit log entry', async () => {
    const set = await root.put<Item & { budget_id: string }>(BUDGETS, daily('0'))
    expect(set).toMatchObject({
      scope: { kind: 'user', user_id: adaId },
      owner_name: '=Ada "A", x',
      budget_source: 'manual',
      exhausted: true,
      alert_ready: true,
    })
    expect((await chat(adaKey)).status).toBe(429)
    const raised = await root.put<Item & { budget_id: string }>(
      BUDGETS,
      daily('1.000000000001', { hard_limit: false, timezone: 'Europe/Berlin' }),
    )
    expect(raised).toMatchObject({
      budget_id: set.budget_id,
      settings: {
        cadence: 'daily',
        amount_usd: '1.000000000001',
        hard_limit: false,
        timezone: 'Europe/Berlin',
      },
      exhausted: false,
    })
    expect((await chat(adaKey)).status).toBe(200)
    const { items } = await root.get<List>(`${BUDGETS}?user_id=${adaId}`)
    expect(items.map(({ current_window_spend_usd }) => current_window_spend_usd)).not.toEqual(['0'])
    const gone = await root.post<Item>(`${BUDGETS}/deactivate`, {
      scope: { kind: 'user', user_id: adaId },
    })
    expect(gone).toMatchObject({
      active: false,
      budget_source: 'manual',
      settings: { amount_usd: '1.000000000001', timezone: 'Europe/Berlin' },
      exhausted: false,
    })
    expect(await root.get<List>(`${BUDGETS}?user_id=${adaId}`)).toMatchObject({ total: 0 })
    expect(await root.get<List>(`${BUDGETS}?user_id=${adaId}&status=all`)).toMatchObject({
      items: [{ active: false }],
    })
    const log = await root.get<{ items: { action: string; after: unknown; before: unknown }[] }>(
      '/api/v1/admin/audit-log',
    )
    const entries = log.items.filter(({ action }) => action.startsWith('budget.'))
    expect(entries.map(({ action }) => action)).toEqual([
      'budget.deactivate',
      'budget.set',
      'budget.set',
    ])
    expect(entries[1]).toMatchObject({
      before: { active: true, settings: { amount_usd: '0' } },
      after: { active: true, settings: { amount_usd: '1.000000000001' } },
    })
    await root.put(BUDGETS, daily('0'))
    const scope = { kind: 'user', user_id: adaId }
    expect(await root.post<Item>(`${BUDGETS}/deactivate`, { scope })).toMatchObject({
      settings: { amount_usd: '0' },
      exhausted: false,
      alert_ready: false,
    })
  })

  test('of both model scopes are checked, too', async () => {
    const scope = { kind: 'user_model', user_id: adaId }
    for (const model of [{ model_id: 'm' }, { upstream_model: '  vendor/one ' }]) {
      const body = { scope: { ...scope, ...model }, cadence: 'monthly', amount_usd: '0' }
      const { scope_key } = await root.put<Item>(BUDGETS, body)
      expect(scope_key).toBe(
        `budget:v1:user:${adaId}:${'model_id' in model ? 'model:m' : 'upstream_model:vendor/one'}`,
      )
      expect((await chat(adaKey)).status).toBe(429)
      expect((await chat(adaKey, 'free')).status).toBe(200)
      await root.post(`${BUDGETS}/deactivate`, { scope: body.scope })
      expect((await chat(adaKey)).status).toBe(200)
    }
  })

  test('a service account can call only while it has a budget', async () => {
    const scope = { kind: 'service_account', service_account_id: botId }
    expect((await chat(botKey)).status).toBe(200)
    await root.post(`${BUDGETS}/deactivate`, { scope })
    const refused = await chat(botKey)
    expect(refused.status).toBe(403)
    const error = { code: 'service_account_budget_required' }
    expect(await refused.json()).toMatchObject({ error })
    await root.put(BUDGETS, { scope, cadence: 'weekly', amount_usd: '5' })
    expect((await chat(botKey)).status).toBe(200)
  })

  const user = { kind: 'user', user_id: nobody }
  test.each([
    ['a negative amount', { amount_usd: '-1' }, 422, '/amount_usd'],
    ['a number', { amount_usd: 1 }, 422, '/amount_usd'],
    ['too many places', { amount_usd: '0.0000000000001' }, 422, '/amount_usd'],
    ['an exponent', { amount_usd: '1e3' }, 422, '/amount_usd'],
    ['no amount', { amount_usd: undefined }, 422, '/amount_usd'],
    ['another cadence', { cadence: 'hourly' }, 422, '/cadence'],
    ['a limit that is not a boolean', { hard_limit: 'yes' }, 422, '/hard_limit'],
    ['an unknown time zone', { timezone: 'Mars/Base' }, 422, '/timezone'],
    ['an unknown member', { amount: '1' }, 422, '/amount'],
    ['a team', { scope: { kind: 'team', team_id: nobody } }, 422, '/scope'],
    ['a scope of two kinds', { scope: { ...user, model_id: 'm' } }, 422, '/scope'],
    [
      'two models',
      { scope: { ...user, kind: 'user_model', model_id: 'm', upstream_model: 'x' } },
      422,
      '/scope',
    ],
    [
      'a blank upstream model',
      { scope: { ...user, kind: 'user_model', upstream_model: '  ' } },
      422,
      '/scope/upstream_model',
    ],
    ['an unknown user', { scope: user }, 404, 'scope.user_id'],
    ['an invalid id', { scope: { kind: 'user', user_id: "' or true --" } }, 404, 'scope.user_id'],
    [
      'an unknown account',
      { scope: { kind: 'service_account', service_account_id: nobody } },
      404,
      'scope.service_account_id',
    ],
  ])(
    '%s is refused with the name of the member, and nothing is written',
    async (_, changes, status, field) => {
      const before = await root.get<List>(`${BUDGETS}?status=all`)
      const [got, , message] = await root.refused('PUT', BUDGETS, daily('1', changes))
      expect([got, message]).toEqual([status, expect.stringContaining(field)])
      expect(await root.get<List>(`${BUDGETS}?status=all`)).toEqual(before)
    },
  )

  test('for an unknown model or an alias are refused', async () => {
    const put = (model_id: string) =>
      root.refused(
        'PUT',
        BUDGETS,
        daily('1', { scope: { kind: 'user_model', user_id: adaId, model_id } }),
      )
    expect(await put('gone')).toEqual([404, 'not_found', expect.stringContaining('scope.model_id')])
    for (const alias of ['short', 'shorter']) {
      expect(await put(alias)).toEqual([
        422,
        'validation_failed',
        expect.stringMatching(/scope\/model_id.*: use m$/),
      ])
    }
    const scope = { kind: 'user_model', user_id: adaId, model_id: 'gone' }
    expect((await root.refused('POST', `${BUDGETS}/deactivate`, { scope }))[0]).toBe(404)
  })

  test('of an unknown user cannot be deactivated', async () => {
    const scope = { kind: 'user', user_id: '01890000-0000-7000-8000-000000000000' }
    expect(await root.refused('POST', `${BUDGETS}/deactivate`, { scope })).toEqual([
      404,
      'not_found',
      expect.stringContaining('scope.user_id'),
    ])
  })

  test('of a model that left the config can be deactivated', async () => {
    const body = daily('1', { scope: { kind: 'user_model', user_id: adaId, model_id: 'free' } })
    const { budget_id } = await root.put<Item & { budget_id: string }>(BUDGETS, body)
    await gateway.sql`
      update accounting.budgets set model_id = 'left', scope_key = ${`budget:v1:user:${adaId}:model:left`}
      where budget_id = ${budget_id}`
    const scope = { kind: 'user_model', user_id: adaId, model_id: 'left' }
    expect(await root.post<Item>(`${BUDGETS}/deactivate`, { scope })).toMatchObject({
      budget_id,
      active: false,
    })
  })

  test('with hostile names are refused before the database sees them', async () => {
    const scope = { kind: 'user_model', user_id: adaId }
    for (const upstream_model of ['a\u0000b', 'a\ud800', 'a\nb', 'x'.repeat(257)]) {
      const body = daily('1', { scope: { ...scope, upstream_model } })
      expect((await root.refused('PUT', BUDGETS, body))[0]).toBe(422)
    }
    expect((await root.refused('GET', `${BUDGETS}?user_id=%00`))[0]).toBe(400)
  })

  test.each(['status=on', 'scope_kind=team', 'budget_source=x', 'page=0', 'colour=red'])(
    'the query %s is refused with the name of the parameter',
    async (query) => {
      const [status, code, message] = await root.refused('GET', `${BUDGETS}?${query}`)
      expect([status, code]).toEqual([400, 'invalid_request'])
      expect(message).toContain(query.split('=')[0] as string)
    },
  )
})

describe('spend', () => {
  const REPORT = '/api/v1/admin/spend/report'
  interface Sums {
    spend_usd: string
    request_count: number
    unpriced_count: number
    rejected_spend_usd: string
  }
  interface Report {
    totals: Sums
    daily: (Sums & { day: string })[]
    owners: (Sums & { owner_id: string; owner_name: string })[]
    models: (Sums & { model_key: string; resolved_model_key: string })[]
  }

  test('is the same in every list, and in the ledger', async () => {
    for (const model of ['m', 'short', 'free']) expect((await chat(adaKey, model)).status).toBe(200)
    const [ledger] = await gateway.sql`
      select sum(cost_pico_usd)::text as cost, count(*)::int as n from accounting.usage_cost_events`
    for (const query of ['', '?days=30&owner_kind=all']) {
      const { totals, daily, owners, models } = await root.get<Report>(`${REPORT}${query}`)
      expect(daily).toHaveLength(query === '' ? 7 : 30)
      expect(daily.at(-1)?.day).toBe(new Date().toISOString().slice(0, 10))
      expect(daily[0]).toMatchObject({ spend_usd: '0', request_count: 0 })
      for (const list of [[totals], daily, owners, models]) {
        expect(list.reduce((sum, { spend_usd }) => sum + pico(spend_usd), 0n)).toBe(
          BigInt(ledger?.cost),
        )
        expect(list.reduce((sum, { request_count }) => sum + request_count, 0)).toBe(ledger?.n)
      }
      expect(models.map((m) => [m.model_key, m.resolved_model_key])).toContainEqual(['short', 'm'])
      expect(totals.unpriced_count).toBeGreaterThan(0)
    }
    const accounts = await root.get<Report>(`${REPORT}?owner_kind=service_account`)
    expect(accounts.owners.map(({ owner_name }) => owner_name)).toEqual(['Bot'])
    const own = await (await keyClient(gateway.url, botKey)).get<Report>('/api/v1/me/spend')
    expect(own.totals).toEqual(accounts.totals)
  })

  test('unpriced calls are listed by reason, with the number that a hard limit did not count', async () => {
    const unpriced = async () =>
      (
        await root.get<{ items: Record<string, unknown>[] }>('/api/v1/admin/spend/unpriced')
      ).items.find(({ upstream_model }) => upstream_model === 'vendor/unknown')
    const before = Number((await unpriced())?.request_count ?? 0)
    expect((await chat(adaKey, 'free')).status).toBe(200)
    const told = await eventually(async () => {
      const row = await unpriced()
      return Number(row?.request_count ?? 0) > before ? row : undefined
    })
    expect(told).toMatchObject({
      reason: 'model_not_found',
      provider_key: 'up',
      pricing_provider_id: 'test',
      pricing_model: 'vendor/unknown',
      request_count: before + 1,
    })
  })

  test('that a hard limit rejected is separate, with the charge', async () => {
    const scope = { kind: 'user_model', user_id: adaId, model_id: 'm' }
    await root.put(BUDGETS, { scope, cadence: 'daily', amount_usd: '1000' })
    const before = await root.get<Report>(REPORT)
    const { current_window_spend_usd: spent } = (
      await root.get<List>(`${BUDGETS}?scope_kind=user_model`)
    ).items.find(({ scope_key }) => scope_key.endsWith(':model:m')) as Item
    const amount_usd = usdOf(pico(spent as string) + 1n)
    await root.put(BUDGETS, { scope, cadence: 'daily', amount_usd })
    expect((await chat(adaKey)).status).toBe(200)
    expect((await chat(adaKey)).status).toBe(429)
    await root.post(`${BUDGETS}/deactivate`, { scope })
    const after = await root.get<Report>(REPORT)
    expect(after.totals.spend_usd).toBe(before.totals.spend_usd)
    expect(after.totals.rejected_spend_usd).not.toBe('0')
    const list = await root.get<{ items: { cost_usd: string; owner_name: string }[] }>(
      '/api/v1/admin/spend/rejected-charges?reason=budget_exceeded',
    )
    expect(list.items).toMatchObject([
      { cost_usd: after.totals.rejected_spend_usd, owner_name: '=Ada "A", x' },
    ])
  })

  test.each([
    ['rejected-charges?reason=x', 'query reason: must be budget_exceeded or duplicate_race'],
    [
      'budgets?budget_source=x',
      'query budget_source: must be manual, config_user_override, config_user_default or config_user_model_default',
    ],
  ])('%s is refused with the allowed values', async (path, expected) => {
    const [status, , message] = await root.refused('GET', `/api/v1/admin/spend/${path}`)
    expect([status, message]).toEqual([400, expected])
  })

  test.each([
    ['days=8', 'days'],
    ['owner_kind=team', 'owner_kind'],
  ])('a report with %s is refused with the name of the parameter', async (query, name) => {
    const [status, code, message] = await root.refused('GET', `${REPORT}?${query}`)
    expect([status, code]).toEqual([400, 'invalid_request'])
    expect(message).toContain(name)
  })

  test('is a FOCUS file without spreadsheet formulas, with the numbers of excluded requests', async () => {
    const today = new Date().toISOString().slice(0, 10)
    const path = `/api/v1/admin/spend/focus.csv?day=${today}`
    const { text, headers } = await root.request('GET', path)
    const [ledger] = await gateway.sql`
      select sum(cost_pico_usd)::text as cost,
        count(*) filter (where pricing_status = 'unpriced')::text as unpriced
      from accounting.usage_cost_events`
    expect(headers.get('x-focus-excluded-unpriced-requests')).toBe(ledger?.unpriced)
    expect(headers.get('x-focus-excluded-usage-missing-requests')).toBe('0')
    const rows: Record<string, string>[] = parse(text, { columns: true })
    expect(rows.reduce((sum, row) => sum + pico(row.BilledCost as string), 0n)).toBe(
      BigInt(ledger?.cost),
    )
    expect(text).toContain(`,"'=Ada ""A"", x",`)
    expect(text).not.toContain('vendor/unknown')
    // The specification requires a type for a resource.
    for (const row of rows) expect(row.ResourceType).toBe('Model')
    const own = await (await keyClient(gateway.url, botKey)).get<string>(
      `/api/v1/me/spend/focus.csv?day=${today}`,
    )
    expect(parse(own, { columns: true })).toEqual(
      rows.filter((row) => row.SubAccountName === 'Bot'),
    )
  })

  test.each([
    ['start=2026-03-02&end=2026-03-01', 'end'],
    ['start=2026-03-02', 'end'],
    ['end=2026-03-02', 'start'],
    ['day=2026-02-30', 'day'],
    ['day=yesterday', 'day'],
    ['day=0000-01-01', 'day'],
    ['day=9999-12-31', 'day'],
    ['start=9998-12-31&end=9999-01-01', 'end'],
    ['day=2026-02-01&start=2026-02-01', 'day'],
    ['day=2026-02-01&end=2026-02-01', 'day'],
    ['start=2026-01-01&end=2026-04-01', 'end'],
    ['owner_kind=team', 'owner_kind'],
  ])('an export with %s is refused with the name of the parameter', async (query, name) => {
    const path = `/api/v1/admin/spend/focus.csv?${query}`
    const [status, code, message] = await root.refused('GET', path)
    expect([status, code]).toEqual([400, 'invalid_request'])
    expect(message).toContain(`query ${name}`)
  })

  test('of 90 days can be exported, and 30 full days are the default', async () => {
    await root.get('/api/v1/admin/spend/focus.csv?start=2026-01-01&end=2026-03-31')
    const { headers } = await root.request('GET', '/api/v1/admin/spend/focus.csv')
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
    expect(headers.get('content-disposition')).toContain(`focus-1.3_${day(30)}_${day(1)}.csv`)
  })
})

test('users see their budgets', async () => {
  const bot = await keyClient(gateway.url, botKey)
  expect((await bot.get<List>('/api/v1/me/budgets')).items).toMatchObject([
    { scope: { kind: 'service_account', service_account_id: botId } },
  ])
  expect(await root.get<List>('/api/v1/me/budgets')).toMatchObject({ items: [], total: 0 })
  const scope = { kind: 'user_model', user_id: adaId, model_id: 'free' }
  await root.put(BUDGETS, { scope, cadence: 'daily', amount_usd: '9' })
  await root.post(`${BUDGETS}/deactivate`, { scope: { kind: 'user', user_id: adaId } })
  const own = await (await keyClient(gateway.url, adaKey)).get<List>('/api/v1/me/budgets')
  expect(own.items.map(({ scope_key, active }) => [scope_key, active])).toContainEqual([
    `budget:v1:user:${adaId}:model:free`,
    true,
  ])
  expect(own.items.every(({ active }) => active)).toBe(true)
})

test('a new user gets the default budgets of the config at once', async () => {
  const other = await startTestGateway(
    config({ budgets: { users: { default: { cadence: 'daily', amount_usd: '3' } } } }),
  )
  try {
    const { userId } = await adminClient(other, { email: 'new@example.com' })
    const rows = await eventually(async () => {
      const found = await other.sql`
        select budget_source from accounting.budgets where user_id = ${userId}`
      return found.length > 0 ? found : undefined
    }, 2000)
    expect([...rows]).toEqual([{ budget_source: 'config_user_default' }])
  } finally {
    await other.stop()
  }
}, 20_000)

function pico(usd: string): bigint {
  const [whole = '', fraction = ''] = usd.split('.')
  return BigInt(whole + fraction.padEnd(12, '0'))
}

function usdOf(picoUsd: bigint): string {
  const digits = picoUsd.toString().padStart(13, '0')
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`
}

test('a change is confirmed even if the alert that it causes cannot be raised yet', async () => {
  const { team_id } = await root.post<{ team_id: string }>('/api/v1/admin/teams', {
    key: 'late',
    name: 'Late',
  })
  await gateway.sql`alter table accounting.budget_alerts rename to away`
  const budget = { cadence: 'daily', amount_usd: '0' }
  const account = { key: 'late', name: 'Late', team_id, budget }
  const made = await root.request('POST', '/api/v1/admin/service-accounts', account)
  const scope = { kind: 'user_model', user_id: adaId, model_id: 'free' }
  const set = await root.request('PUT', BUDGETS, { scope, ...budget })
  await gateway.sql`alter table accounting.away rename to budget_alerts`
  expect([made.status, set.status]).toEqual([201, 200])
  await eventually(async () => {
    const { total } = await root.get<List>(
      `/api/v1/admin/spend/budget-alerts?owner_kind=service_account`,
    )
    return total > 0 ? true : undefined
  })
})
