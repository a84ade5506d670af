/** What replies say was used has its price, so that a hard limit holds from the first call that reaches it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { type AdminClient, adminClient } from '../../harness/admin.ts'
import { ada, adaKey, startTestGateway, type TestGateway, testKey } from '../../harness/gateway.ts'
import { startUpstream, type Upstream } from '../../harness/upstream.ts'
import { type Case, cases, chat, counts, responses, sheet } from './priced-replies.fixture.ts'

let upstream: Upstream
let gateway: TestGateway
let root: AdminClient

beforeAll(async () => {
  upstream = await startUpstream()
  const { origin } = new URL(upstream.url)
  const auth = { mode: 'bearer', token: 'literal.key' }
  const model = (id: string, provider: string, upstream_model: string, compatibility = {}) => ({
    id,
    routes: [{ provider, upstream_model, compatibility }],
  })
  const profile = (members: JsonObject) => ({
    generic_compat: { supports_stream_usage: true, ...members },
  })
  gateway = await startTestGateway({
    providers: [
      { id: 'up', type: 'generic_compat', base_url: upstream.url, pricing_provider_id: 'test' },
      { id: 'vertex', type: 'cloud_a_ml', project_id: 'p', api_host: origin, auth },
      { id: 'aws', type: 'cloud_b_ml', region: 'us-east-1', endpoint_url: origin, auth },
    ],
    models: [
      model('compat', 'up', 'u', profile({})),
      model('resold', 'up', 'unlisted', profile({ bills_stated_cost: true })),
      model('claude', 'vertex', 'anthropic/claude-sonnet-4-6'),
      model('gemini', 'vertex', 'google/gemini-3-flash'),
      model('converse', 'aws', 'amazon.nova-pro', {
        cloud_b_ml: { api_style: 'runtime_unified' },
      }),
    ],
    pricing: {
      overrides: [
        ['test', 'u'],
        ['google-vertex', 'gemini-3-flash'],
        ['google-vertex-anthropic', 'claude-sonnet-4-6'],
        ['amazon-bedrock', 'amazon.nova-pro'],
      ].map(([pricing_provider_id, model]) => ({ pricing_provider_id, model, ...sheet })),
    },
    users: [
      ada,
      ...cases.map(({ name }, index) => ({
        name,
        email: `case-${index}@example.com`,
        budget: { cadence: 'daily', amount_usd: '0.000001', hard_limit: true },
        api_keys: [{ name: 'test', value: `literal.${testKey(name)}`, all_models: true }],
      })),
    ],
  })
  root = await adminClient(gateway)
}, 60_000)
afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})

interface Entry {
  readonly pricing_status: string
  readonly unpriced_reason: string | null
  readonly usage_doubt: string | null
  readonly cost_usd: string | null
  readonly service_tier: string | null
  readonly price_source: string | null
  readonly line_items: readonly { unit: string; quantity: number; cost_usd: string }[] | null
}

async function call(
  { path = '/v1/chat/completions', model, body = {}, reply }: Omit<Case, 'name' | 'usd'>,
  key: string,
) {
  upstream.always(reply)
  const asked = [{ role: 'user', content: 'Which way do rivers run?' }]
  const said = path === responses ? { input: asked } : { messages: asked }
  const authorization = `Bearer ${key}`
  const response = await gateway.post(path, { model, ...said, ...body }, { authorization })
  const text = await response.text()
  return { status: response.status, text, id: response.headers.get('x-request-id') as string }
}

async function entryOf(id: string): Promise<Entry> {
  const path = `/api/v1/admin/spend/ledger-entries?request_id=${id}`
  const { items } = await root.get<{ items: readonly Entry[] }>(path)
  return items[0] as Entry
}

/** An amount in USD as 10⁻¹² of it. */
const pico = (usd: string) => {
  const [whole = '', fraction = ''] = usd.split('.')
  return BigInt(whole + fraction.padEnd(12, '0'))
}

test.each(cases.map((one) => [one.name, one] as const))(
  'a hard limit of 0.000001 USD holds after the first call: %s',
  async (name, one) => {
    const before = upstream.journal.calls.length
    const first = await call(one, testKey(name))
    expect(first).toMatchObject({ status: 200 })
    const entry = await entryOf(first.id)
    expect(entry).toMatchObject({
      pricing_status: 'priced',
      usage_doubt: null,
      cost_usd: one.usd,
      service_tier: one.tier ?? null,
      price_source: one.model === 'resold' ? 'seller' : 'override',
    })
    const total = entry.line_items?.reduce((sum, { cost_usd }) => sum + pico(cost_usd), 0n)
    expect(total).toBe(pico(one.usd))
    const second = await call(one, testKey(name))
    expect([second.status, JSON.parse(second.text).error.code]).toEqual([429, 'budget_exceeded'])
    expect(upstream.journal.calls.length).toBe(before + 1)
  },
)

test.each([
  ['a tier that the list does not have', {}, { service_tier: 'scale' }, 'scale'],
  ['a tier that is no text', {}, { service_tier: { type: 'x' } }, '{"type":"x"}'],
  [
    'a tier that was asked for, and of which the reply says nothing',
    { service_tier: 'flex' },
    {},
    null,
  ],
  ['a tier that is longer than any', {}, { service_tier: 'x'.repeat(10_000) }, 'x'.repeat(100)],
] as const)('%s has no price, and says so', async (_, body, more, tier) => {
  const { status, id } = await call({ model: 'compat', body, reply: chat(counts, more) }, adaKey)
  expect(status).toBe(200)
  expect(await entryOf(id)).toMatchObject({
    pricing_status: 'unpriced',
    unpriced_reason: 'unsupported_billing_modifier',
    service_tier: tier,
    cost_usd: null,
    line_items: null,
  })
})

test.each([
  ['parts_exceed_whole', { prompt_tokens_details: { audio_tokens: 101 } }],
  ['cached_exceeds_input', { cached_tokens: 101 }],
  ['negative_count', { server_tool_use: { web_search_requests: -1 } }],
  ['total_mismatch', { total_tokens: 7 }],
] as const)('counters that contradict themselves are an estimate: %s', async (doubt, more) => {
  const reply = chat({ ...counts, ...more })
  const { id } = await call({ model: 'compat', reply }, adaKey)
  expect(await entryOf(id)).toMatchObject({
    pricing_status: 'legacy_estimated',
    usage_doubt: doubt,
    cost_usd: expect.any(String),
  })
})
