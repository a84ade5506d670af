/** What goes out to the messages API, as the upstream's journal saw it, and what comes back of it. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { GatewayError, type JsonObject, Secret } from 'model-gateway/plugin'
import type { Egress, RouteSpec } from 'model-gateway/provider'
import {
  collectEvents,
  type JournalCall,
  json,
  providerCall,
  setUpProvider,
  startUpstream,
} from 'model-gateway/testing'
import { type Config, checkProvider } from './config.ts'
import plugin from './index.ts'

const upstream = await startUpstream()
const origin = new URL(upstream.url).origin
const KEY = { api_key: new Secret('sk-ant-1') }
// https://docs.claude.com/en/api/messages, its first example.
const message = {
  id: 'msg_013Zva2CMHLNnXjNJJKqJ2EF',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  content: [{ type: 'text', text: 'Hi! My name is Claude.', citations: null }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 2095, output_tokens: 503, service_tier: 'standard' },
}
beforeEach(() => {
  upstream.clear()
  upstream.always(json(message))
})
afterAll(upstream.stop)

interface Ask {
  readonly dialect?: string
  readonly config?: Partial<Config>
  readonly route?: Partial<RouteSpec>
  readonly headers?: Record<string, string>
}

async function ask(body: JsonObject, { dialect = 'messages', config, route, headers }: Ask = {}) {
  const setUp = { base_url: origin, ...(config ?? KEY) }
  const bench = await setUpProvider({ plugin, type: 'anthropic', config: setUp })
  const bound = bench.bind({ upstreamModel: 'claude-sonnet-4-5', ...route })
  const call = { ...providerCall({ model: 'asked', ...body }), ...(headers && { headers }) }
  const outcome = await bound.execute[dialect]?.(call).catch((error) => error)
  if (outcome?.kind === 'stream') await collectEvents(outcome)
  await bench.dispose()
  const sent = upstream.journal.calls.at(-1) as JournalCall
  return { sent, body: sent?.body as JsonObject, outcome, pricing: bound.pricing }
}

const messages = [{ role: 'user', content: 'hi' }]
const attributed = [
  { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1;' },
  { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', scope: 'global' } },
]

describe('a call of the messages API', () => {
  test('is passed on unchanged except for the model, and so is the reply', async () => {
    const body = {
      max_tokens: 9,
      messages,
      service_tier: 'auto',
      tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }],
      mcp_servers: [{ type: 'url', url: 'https://mcp.example.com', name: 'm' }],
      unheard_of: { 'odd key': [1.5e3] },
    }
    const headers = { 'anthropic-beta': 'mcp-client-2025-11-20,unheard-of-2027-01-01' }
    const { sent, outcome, pricing } = await ask(body, { headers })
    expect([sent.method, sent.path]).toEqual(['POST', '/v1/messages'])
    expect(sent.headers).toMatchObject({
      'x-api-key': 'sk-ant-1',
      'anthropic-version': '2023-06-01',
      ...headers,
    })
    expect(sent.headers).not.toHaveProperty('authorization')
    expect(sent.rawBody).toBe(JSON.stringify({ model: 'claude-sonnet-4-5', ...body }))
    expect(outcome).toEqual({
      ...{ kind: 'buffered', body: message, rawBody: JSON.stringify(message) },
      billingModifiers: [],
    })
    expect(pricing).toEqual({ pricingProviderId: 'anthropic', model: 'claude-sonnet-4-5' })
  })

  test('a route adds and removes betas', async () => {
    const betas = { add: ['a-1'], remove: ['b-1'] }
    const headers = { 'anthropic-beta': 'b-1, c-1' }
    const route = { compatibility: { anthropic: { betas } } }
    const { sent } = await ask({ max_tokens: 9, messages }, { headers, route })
    expect(sent.headers['anthropic-beta']).toBe('c-1,a-1')
  })

  test('vendor-specific client members are not sent to others', async () => {
    const { body } = await ask({ max_tokens: 9, messages, system: attributed })
    expect(body.system).toEqual(attributed.slice(1))
    let sent: { url: string; system: unknown } | undefined
    const egress: Egress = {
      async send(_, url, init) {
        sent = { url, system: JSON.parse(String(init.body)).system }
        throw new GatewayError('upstream_transport', 'not there')
      },
    }
    const bench = await setUpProvider({ plugin, type: 'anthropic', config: KEY, egress })
    const call = providerCall({ model: 'asked', max_tokens: 9, messages, system: attributed })
    const outcome = bench.bind({ upstreamModel: 'claude-sonnet-4-5' }).execute.messages?.(call)
    expect(await outcome?.catch(({ code }) => code)).toBe('upstream_transport')
    expect(sent).toEqual({ url: 'https://api.anthropic.com/v1/messages', system: attributed })
  })

  test('thinking rules apply to known models', async () => {
    const asked = { max_tokens: 9, messages, thinking: { type: 'adaptive' } }
    const upstreamModel = 'deepseek-reasoner'
    expect((await ask(asked, { route: { upstreamModel } })).body.thinking).toEqual(asked.thinking)
    const { outcome } = await ask(asked)
    expect(outcome).toMatchObject({ code: 'invalid_request' })
  })
})

test.each<[string, Partial<Config>, string, Record<string, string>]>([
  [
    'a bearer token',
    { auth_token: new Secret('t') },
    '/v1/messages',
    { authorization: 'Bearer t' },
  ],
  ['its version', { base_url: `${origin}/v1/` }, '/v1/messages', {}],
  ['a path', { base_url: `${origin}/anthropic` }, '/anthropic/v1/messages', {}],
  [
    'another version',
    { version: '2027-01-01' },
    '/v1/messages',
    { 'anthropic-version': '2027-01-01' },
  ],
])('%s in the config', async (_, config, path, headers) => {
  const { sent } = await ask({ max_tokens: 9, messages }, { config })
  expect(sent.path).toBe(path)
  expect(sent.headers).toMatchObject(headers)
})

test('chat is converted to the messages API, and hosted tools are passed on', async () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
  const search = { type: 'web_search_20250305', name: 'web_search' }
  const { body, outcome } = await ask(
    { messages: [{ role: 'user', content: [image] }], tools: [search], user: 'u-1' },
    { dialect: 'chat_completions' },
  )
  const source = { type: 'base64', media_type: 'image/png', data: 'AA==' }
  expect(body).toEqual({
    model: 'claude-sonnet-4-5',
    max_tokens: 4096,
    messages: [{ role: 'user', content: [{ type: 'image', source }] }],
    tools: [search],
    metadata: { user_id: 'u-1' },
  })
  expect(outcome.body).toMatchObject({
    choices: [{ message: { content: 'Hi! My name is Claude.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 2095, completion_tokens: 503 },
  })
})

test('a JSON schema is sent in the API’s format', async () => {
  const item = { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } }
  const schema = { type: 'object', properties: { list: { type: 'array', items: item } } }
  const response_format = { type: 'json_schema', json_schema: { name: 'o', schema } }
  const dialect = 'chat_completions'
  const route = { upstreamModel: 'claude-opus-4-8' }
  const fields = { messages, response_format, reasoning_effort: 'low' }
  const { body } = await ask(fields, { dialect, route })
  const closed = { additionalProperties: false }
  const n = { type: 'integer', description: '{"minimum":1}' }
  const items = { type: 'object', properties: { n }, ...closed }
  expect(body.output_config).toEqual({
    effort: 'low',
    format: {
      type: 'json_schema',
      schema: { type: 'object', properties: { list: { type: 'array', items } }, ...closed },
    },
  })
  const { outcome } = await ask({ messages, response_format: { type: 'json_object' } }, { dialect })
  expect(outcome.message).toContain('response_format')
})

test('tokens are counted by the upstream: files, server tools and betas with them', async () => {
  upstream.always(json({ input_tokens: 14 }))
  const content = [{ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } }]
  const prompt = {
    messages: [{ role: 'user', content }],
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  }
  const headers = { 'anthropic-beta': 'context-management-2025-06-27' }
  const route = { extraBody: { max_tokens: 5, tool_choice: { type: 'auto' } } }
  const dialect = 'messages.count_tokens'
  const { sent, outcome } = await ask({ ...prompt, max_tokens: 9 }, { dialect, headers, route })
  expect(sent.path).toBe('/v1/messages/count_tokens')
  expect(sent.headers).toMatchObject(headers)
  expect(sent.body).toEqual({
    model: 'claude-sonnet-4-5',
    ...prompt,
    tool_choice: { type: 'auto' },
  })
  expect(outcome).toEqual({ kind: 'buffered', body: { input_tokens: 14 } })
})

// https://docs.claude.com/en/api/errors
test.each([
  [400, 'invalid_request_error', 400],
  [401, 'authentication_error', 502],
  [413, 'request_too_large', 413],
  [429, 'rate_limit_error', 429],
  [529, 'overloaded_error', 529],
])('an error %d %s goes out as %d', async (status, type, told) => {
  const error = { type: 'error', error: { type, message: 'Not today.' }, request_id: 'req_1' }
  upstream.always(json(error, status))
  const { outcome } = await ask({ max_tokens: 9, messages })
  expect(outcome).toMatchObject({
    code: 'upstream_http_error',
    status: told,
    message: 'Not today.',
    upstream: { type },
  })
})

test('config problems', () => {
  const found = (provider: JsonObject) => [...checkProvider(provider)].map(({ path }) => path[0])
  expect(found({})).toEqual(['api_key'])
  expect(found({ api_key: 'env.K' })).toEqual([])
  expect(found({ base_url: 'http://127.0.0.1:8080' })).toEqual([])
  expect(found({ api_key: 'env.K', auth_token: 'env.T' })).toEqual(['auth_token'])
  expect(found({ api_key: 'env.K', base_url: 'https://a/v1/messages' })).toEqual(['base_url'])
})
