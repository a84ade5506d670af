/** Models, aliases, grants, budgets and prices under names with a wildcard. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import postgres from 'postgres'
import { type AdminClient, adminClient } from '../../harness/admin.ts'
import { ada, adaKey, eventually, testKey } from '../../harness/gateway.ts'
import { type GatewayProcess, spawnGateway } from '../../harness/process.ts'
import { believable, delayed, startUpstream, type Upstream } from '../../harness/upstream.ts'

let upstream: Upstream
let gateway: GatewayProcess
let sql: postgres.Sql
let root: AdminClient

const key = (name: string) => testKey(`wild ${name}`)
const keyEntry = (name: string, models: readonly string[]) => ({
  name,
  value: `literal.${key(name)}`,
  models,
})

function config(without?: string) {
  const models = [
    { id: 'openai/*', routes: [{ provider: 'up', upstream_model: '*' }] },
    { id: 'openai/o*', routes: [{ provider: 'up', upstream_model: 'o*' }] },
    { id: 'openai/gpt-5-mini', routes: [{ provider: 'up', upstream_model: 'gpt-5-nano' }] },
    { id: 'local/*', routes: [{ provider: 'own', upstream_model: 'llama-*' }] },
    { id: 'fast', alias_of: 'openai/gpt-5' },
    { id: 'short/*', alias_of: 'openai/gpt-4*' },
  ]
  return {
    providers: [
      {
        id: 'up',
        type: 'generic_compat',
        base_url: upstream.url,
        pricing_provider_id: 'openai',
      },
      { id: 'own', type: 'generic_compat', base_url: upstream.url, pricing_provider_id: 'own' },
    ],
    models: models.filter(({ id }) => id !== without),
    users: [
      {
        ...ada,
        api_keys: [
          ...ada.api_keys,
          keyEntry('narrow', ['openai/gpt-4o*', 'openai/gpt-9-new', 'fast']),
          keyEntry('wide', ['*-mini', 'short/*']),
        ],
      },
      {
        name: 'Bob',
        email: 'bob@example.com',
        model_access: { mode: 'restricted', models: ['openai/o*', 'local/*'] },
        api_keys: [keyEntry('bob', ['*'])],
      },
    ],
    budgets: {
      users: {
        model_defaults: [
          { model: 'openai/gpt-4.1', budget: { cadence: 'daily', amount_usd: '0.000001' } },
        ],
      },
    },
    pricing: {
      overrides: [
        {
          pricing_provider_id: 'own',
          model: 'llama-*',
          input_usd_per_million: '1',
          output_usd_per_million: '2',
          cache_read_usd_per_million: '0',
        },
      ],
    },
  }
}

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await spawnGateway(config())
  sql = postgres(gateway.databaseUrl, { max: 1, onnotice: () => {} })
  root = await adminClient(gateway)
})
afterAll(async () => {
  await sql?.end()
  await gateway?.remove()
  await upstream?.stop()
})

async function call(model: string, apiKey = adaKey) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
  })
  const { error, model: told } = (await response.json()) as {
    error?: { code: string; message: string }
    model?: string
  }
  return { status: response.status, error, told, id: response.headers.get('x-request-id') ?? '' }
}

const listed = async (apiKey: string) =>
  (await new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey }).models.list()).data.map(
    ({ id }) => id,
  )

test.each([
  ['openai/gpt-5', 'openai/gpt-5', 'gpt-5', 'priced'],
  ['openai/gpt-99/preview', 'openai/gpt-99/preview', 'gpt-99/preview', 'unpriced'],
  ['openai/o3', 'openai/o3', 'o3', 'priced'],
  ['openai/gpt-5-mini', 'openai/gpt-5-mini', 'gpt-5-nano', 'priced'],
  ['fast', 'openai/gpt-5', 'gpt-5', 'priced'],
  ['short/o', 'openai/gpt-4o', 'gpt-4o', 'priced'],
  ['local/7b', 'local/7b', 'llama-7b', 'priced'],
])('%s is executed as %s, sent as %s and priced by that', async (asked, model, sent, status) => {
  upstream.clear()
  const { told, id } = await call(asked)
  expect(told).toBe(asked)
  expect(upstream.journal.calls.map(({ body }) => (body as { model: string }).model)).toEqual([
    sent,
  ])
  const [row] = await sql`
    select model_key, resolved_model_key, upstream_model, pricing_model, pricing_status,
      coalesce(cost_pico_usd, 0) > 0 as costs
    from accounting.usage_cost_events where request_id = ${id}`
  expect(row).toEqual({
    model_key: asked,
    resolved_model_key: model,
    upstream_model: sent,
    pricing_model: sent,
    pricing_status: status,
    costs: status === 'priced',
  })
})

test.each([
  ['narrow', 'openai/gpt-4o-mini', 200],
  ['narrow', 'openai/gpt-9-new', 200],
  ['narrow', 'fast', 200],
  ['narrow', 'openai/gpt-5', 403],
  ['wide', 'openai/gpt-5-mini', 200],
  ['wide', 'openai/gpt-4o', 403],
  ['wide', 'short/o', 200],
  ['wide', 'other/gpt-5-mini', 404],
  ['bob', 'openai/o3', 200],
  ['bob', 'local/x', 200],
  ['bob', 'openai/gpt-5', 403],
  // A pattern is not the name of a model.
  ['bob', 'openai/o*', 404],
])('a key with the grants of %s that asks for %s: %i', async (name, model, status) => {
  expect((await call(model, key(name))).status).toBe(status)
})

test('the list of models has what the price list or a grant knows of a wildcard', async () => {
  const all = await listed(adaKey)
  expect(all).toContain('openai/gpt-5')
  expect(all).toContain('short/o-mini')
  expect(all.filter((id) => id.includes('*') || id.startsWith('local/'))).toEqual([])
  expect(new Set(all).size).toBe(all.length)
  const narrow = await listed(key('narrow'))
  expect(narrow).toContain('openai/gpt-4o-mini')
  expect(narrow.filter((id) => !id.startsWith('openai/gpt-4o'))).toEqual([
    'fast',
    'openai/gpt-9-new',
  ])
  expect((await listed(key('bob'))).every((id) => id.startsWith('openai/o'))).toBe(true)

  const one = (id: string, apiKey: string, headers = {}) =>
    fetch(`${gateway.url}/v1/models/${id}`, {
      headers: { authorization: `Bearer ${apiKey}`, ...headers },
    })
  expect(await (await one('openai/gpt-4o-next', key('narrow'))).json()).toMatchObject({
    id: 'openai/gpt-4o-next',
    object: 'model',
  })
  const messages = { 'anthropic-version': '2023-06-01' }
  expect(await (await one('local%2Fx', key('bob'), messages)).json()).toMatchObject({
    type: 'model',
    id: 'local/x',
  })
  for (const id of ['openai/gpt-5', 'openai/gpt-4o*', 'gone/x']) {
    expect((await one(id, key('narrow'))).status).toBe(404)
  }
})

test('a budget counts the calls of one name', async () => {
  expect((await call('openai/gpt-4.1')).status).toBe(200)
  const { status, error } = await call('short/.1')
  expect([status, error?.code]).toEqual([429, 'budget_exceeded'])
  expect((await call('openai/gpt-4.1-mini')).status).toBe(200)
})

test.each([
  ['openai/gpt 5\n"; drop table x --', 200],
  [`openai/${'é'.repeat(196)}`, 200],
  [`openai/${'é'.repeat(198)}`, 400],
  ['openai/a\0b', 400],
  ['openai/\ud800', 400],
  ['openai/', 404],
  ['openai/*', 404],
])('a name such as %j: %i, and the log has a row', async (model, status) => {
  const { status: answered, id } = await call(model)
  expect(answered).toBe(status)
  const row = await eventually(async () => {
    const [found] = await sql`
      select status_code::int, resolved_model_key from request_log.request_logs
      where request_id = ${id}`
    return found
  })
  expect(row).toMatchObject({ status_code: status })
  if (status === 200) expect(row.resolved_model_key).toBe(model)
})

test('many names under one wildcard: each has its row', async () => {
  const names = Array.from({ length: 100 }, (_, n) => `openai/random-${n}`)
  const calls = await Promise.all(names.map((name) => call(name)))
  expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([200]))
  const [rows] = await sql`
    select count(*)::int as calls, count(distinct resolved_model_key)::int as models
    from accounting.usage_cost_events where resolved_model_key like 'openai/random-%'`
  expect(rows).toEqual({ calls: 100, models: 100 })
})

test('the control plane takes patterns where it can, and says where it cannot', async () => {
  const issue = (granted_models: readonly string[]) => ({
    name: 'k',
    owner: { kind: 'user', user_id: root.userId },
    granted_models,
  })
  const path = '/api/v1/admin/api-keys'
  const made = await root.post<{ api_key: string }>(path, issue(['openai/gpt-*', 'short/new']))
  await eventually(async () => (await call('short/new', made.api_key)).status === 200 || undefined)
  expect(await root.refused('POST', path, issue(['opanai/*']))).toEqual([
    404,
    'not_found',
    'granted_models: no model matches opanai/*',
  ])
  expect((await root.refused('POST', path, issue(['*/*'])))[2]).toContain('more than one *')
  const budget = (model_id: string) => ({
    scope: { kind: 'user_model', user_id: root.userId, model_id },
    cadence: 'daily',
    amount_usd: '1',
  })
  const budgets = '/api/v1/admin/spend/budgets'
  expect(await root.put(budgets, budget('openai/gpt-7'))).toMatchObject({ active: true })
  expect((await root.refused('PUT', budgets, budget('openai/*')))[2]).toContain('full model name')
  expect((await root.refused('PUT', budgets, budget('short/x')))[2]).toContain('openai/gpt-4x')
  const { items } = await root.get<{
    items: { model_key: string; names: string[]; routes: { price: { status: string } }[] }[]
  }>('/api/v1/admin/models')
  const model = items.find(({ model_key }) => model_key === 'openai/*')
  expect(model?.names).toContain('openai/gpt-5')
  expect(model?.routes[0]?.price.status).toBe('by_name')
})

test('a reload that takes a wildcard away lets calls end, and its grants mean nothing', async () => {
  upstream.clear()
  upstream.script(delayed(500, believable()))
  const running = call('local/slow', key('bob'))
  await upstream.received(0)
  gateway.rewrite({ ...config('local/*'), users: [ada], budgets: {} })
  gateway.signal('SIGHUP')
  await eventually(async () => (await call('local/x')).status === 404 || undefined)
  expect((await running).status).toBe(200)
  expect((await call('local/slow', key('bob'))).status).toBe(404)
  expect((await call('openai/o3', key('bob'))).status).toBe(200)
})
