/** What goes out to deployments, as the upstream's journal saw it, and what comes back of them. */
import { afterAll, beforeEach, describe, expect, setSystemTime, test } from 'bun:test'
import { type JsonObject, Secret } from 'model-gateway/plugin'
import type { RouteSpec } from 'model-gateway/provider'
import {
  collectEvents,
  type JournalCall,
  json,
  providerCall,
  setUpProvider,
  sse,
  startUpstream,
} from 'model-gateway/testing'
import { chatDialect } from 'model-gateway/wire'
import { type Config, checkProvider } from './config.ts'
import plugin from './index.ts'
import { watchingModel } from './replied-model.ts'

const upstream = await startUpstream()
const endpoint = new URL(upstream.url).origin
beforeEach(() => upstream.clear())
afterAll(upstream.stop)

interface Ask {
  readonly dialect?: string
  readonly config?: Partial<Config>
  readonly route?: Partial<RouteSpec>
}

async function ask(fields: JsonObject, { dialect = 'chat_completions', config, route }: Ask = {}) {
  const setUp = { endpoint, ...(config?.auth ? {} : { api_key: new Secret('k-1') }), ...config }
  const bench = await setUpProvider({ plugin, type: 'azure_openai', config: setUp })
  const bound = bench.bind({ upstreamModel: 'my-chat', ...route })
  const outcome = await bound.execute[dialect]?.(providerCall({ model: 'asked', ...fields })).catch(
    (error) => error,
  )
  const events = outcome?.kind === 'stream' ? await collectEvents(outcome) : []
  await bench.dispose()
  const sent = upstream.journal.calls.at(-1) as JournalCall
  return { sent, body: sent?.body as JsonObject, outcome, events, pricing: bound.pricing }
}

const messages = [{ role: 'user', content: 'hi' }]
const named = (model: string) => ({ compatibility: { azure_openai: { model } } })
const OLD = '2024-10-21'

describe.each([
  ['chat_completions', { messages }, 'deployments/my-chat/chat/completions', 'chat/completions'],
  ['embeddings', { input: 'x' }, 'deployments/my-chat/embeddings', 'embeddings'],
  ['responses', { input: 'x' }, 'responses', 'responses'],
] as const)('%s', (dialect, fields, dated, v1) => {
  test.each([
    ['', undefined, `/openai/v1/${v1}`],
    ['/openai/v1/', undefined, `/openai/v1/${v1}`],
    ['/', OLD, `/openai/${dated}?api-version=${OLD}`],
  ])('at an endpoint with the path "%s", version %p', async (path, version, expected) => {
    const config = { endpoint: `${endpoint}${path}`, ...(version && { api_version: version }) }
    const { sent, body, pricing } = await ask(fields, { dialect, config })
    expect(sent.path).toBe(expected)
    expect(sent.headers['api-key']).toBe('k-1')
    expect(sent.headers).not.toHaveProperty('authorization')
    expect(body).toEqual({ model: 'my-chat', ...fields })
    expect(pricing).toEqual({ pricingProviderId: 'azure', model: 'my-chat' })
  })
})

test('a deployment is priced and called as the model of its route', async () => {
  const { sent, body, pricing } = await ask(
    { messages, stream: true, reasoning_effort: 'low' },
    { route: named('gpt-5-mini') },
  )
  expect(sent.path).toBe('/openai/v1/chat/completions')
  // A priced stream has to tell its counters.
  expect(body).toMatchObject({ model: 'my-chat', stream_options: { include_usage: true } })
  expect(pricing.model).toBe('gpt-5-mini')
  const { sent: newer, body: asked } = await ask({ messages }, { route: named('gpt-5.5') })
  expect(newer.path).toBe('/openai/v1/responses')
  expect(asked.model).toBe('my-chat')
})

test.each([
  ['gpt-4o', 1],
  ['gpt-4o-mini', 0],
])('replies of gpt-4o-mini, priced as %s, are worth %d warnings', async (model, times) => {
  const warnings: string[] = []
  const warn = (message: string) => warnings.push(message)
  const frames = ['{"choices":[],"model":""}', '{"choices":[],"model":"gpt-4o-mini-2024-07-18"}']
  upstream.always(sse([...frames.map((data) => `data: ${data}\n\n`), 'data: [DONE]\n\n']))
  const config = { endpoint, api_key: new Secret('k') }
  const bench = await setUpProvider({ plugin, type: 'azure_openai', config })
  const { execute } = bench.bind({ upstreamModel: 'my-chat' })
  const deployment = { deployment: 'my-chat', model, chatMember: 'model', warn } as const
  const watched = watchingModel(execute, deployment).chat_completions
  for (let i = 0; i < 2; i++) {
    const result = await watched?.(providerCall({ model: 'asked', messages, stream: true }))
    if (result !== undefined) expect(await collectEvents(result)).toHaveLength(3)
  }
  await bench.dispose()
  expect(warnings).toHaveLength(times)
  for (const warning of warnings) expect(warning).toContain('gpt-4o-mini-2024-07-18')
})

describe('content filters', () => {
  // As recorded in microsoft/TinyTroupe#85.
  const verdict = { filtered: true, detected: true }
  const innererror = {
    code: 'ResponsibleAIPolicyViolation',
    content_filter_result: { hate: { filtered: false, severity: 'safe' }, jailbreak: verdict },
  }
  const message = "The response was filtered due to the prompt triggering Azure OpenAI's filter."
  const error = { message, type: null, param: 'prompt', code: 'content_filter', status: 400 }

  test('a prompt that is refused: the code, the member and the verdicts', async () => {
    upstream.always(json({ error: { ...error, innererror } }, 400))
    const { outcome } = await ask({ messages })
    expect(outcome).toMatchObject({
      code: 'upstream_http_error',
      status: 400,
      upstream: { code: 'content_filter', param: 'prompt' },
      details: { innererror },
    })
  })

  test('a stream’s prompt verdicts come first, in a readable chunk', async () => {
    // As recorded in the tests of microsoft/semantic-kernel.
    const results = [
      { prompt_index: 0, content_filter_results: { jailbreak: { filtered: false } } },
    ]
    const about = { choices: [], created: 0, id: '', model: '', object: '' }
    const chunk = {
      id: 'c-1',
      object: 'chat.completion.chunk',
      created: 1704212243,
      model: 'gpt-4',
    }
    const choices = [
      { index: 0, delta: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' },
    ]
    const frames = [
      { ...about, prompt_filter_results: results },
      { ...chunk, choices: [{ ...choices[0], content_filter_results: {} }] },
    ].map((data) => `data: ${JSON.stringify(data)}\n\n`)
    upstream.always(sse([...frames, 'data: [DONE]\n\n']))
    const { events } = await ask({ messages, stream: true })
    const stream = chatDialect.streaming?.open({ publicModel: 'asked', native: true })
    const told = stream?.push(events).map(({ data }) => JSON.parse(data)) ?? []
    expect(told[0]).toMatchObject({
      ...{ object: 'chat.completion.chunk', model: 'asked', choices: [] },
      prompt_filter_results: results,
    })
    expect(told[1]).toMatchObject({ choices: [{ content_filter_results: {}, ...choices[0] }] })
    expect(stream?.outcome).toBe('complete')
  })
})

const issued: URLSearchParams[] = []
let refusal: Response | undefined
const login = Bun.serve({
  port: 0,
  async fetch(request) {
    const form = new URLSearchParams(await request.text())
    if (refusal !== undefined) return refusal
    issued.push(form)
    form.set('path', new URL(request.url).pathname)
    const access_token = `token-${issued.length}`
    return Response.json({ token_type: 'Bearer', expires_in: 3599, access_token })
  },
})
afterAll(async () => {
  setSystemTime()
  await entra.dispose()
  await login.stop(true)
})
const auth = {
  mode: 'client_credentials',
  tenant_id: 'contoso.onmicrosoft.com',
  client_id: 'app-1',
  client_secret: new Secret('canary-secret'),
  authority: login.url.origin,
} as const
const entra = await setUpProvider({
  plugin,
  type: 'azure_openai',
  config: { endpoint, auth },
})
const chatByEntra = entra.bind({ upstreamModel: 'my-chat' }).execute.chat_completions

describe('Entra ID', () => {
  const call = async () => {
    const outcome = await chatByEntra?.(providerCall({ model: 'asked', messages })).catch(
      (error) => error,
    )
    return { outcome, sent: upstream.journal.calls.at(-1)?.headers.authorization }
  }

  test('a token is used until shortly before it expires, or until it is refused', async () => {
    expect((await call()).sent).toBe('Bearer token-1')
    expect((await call()).sent).toBe('Bearer token-1')
    expect(Object.fromEntries(issued[0] ?? [])).toEqual({
      grant_type: 'client_credentials',
      client_id: 'app-1',
      client_secret: 'canary-secret',
      scope: 'https://cognitiveservices.azure.com/.default',
      path: '/contoso.onmicrosoft.com/oauth2/v2.0/token',
    })
    upstream.always(json({ error: { code: '401', message: 'Unauthorized.' } }, 401))
    expect((await call()).outcome).toMatchObject({ status: 502 })
    upstream.clear()
    expect((await call()).sent).toBe('Bearer token-2')
    setSystemTime(Date.now() + 3_600_000)
    expect((await call()).sent).toBe('Bearer token-3')
  })

  test('a failed login is reported without the secret', async () => {
    setSystemTime(Date.now() + 7_200_000)
    const error_description = "AADSTS7000215: Invalid client secret: 'canary-secret'."
    refusal = Response.json({ error: 'invalid_client', error_description }, { status: 401 })
    const { outcome } = await call()
    expect(outcome).toMatchObject({ code: 'upstream_transport', status: 502 })
    expect(outcome.message).toContain('AADSTS7000215')
    expect(outcome.message).not.toContain('canary-secret')
  })

  test('a configured token is sent', async () => {
    const config = { auth: { mode: 'bearer', token: new Secret('t-1') } } as const
    const { sent } = await ask({ messages }, { config })
    expect(sent.headers).toMatchObject({ authorization: 'Bearer t-1' })
    expect(sent.headers).not.toHaveProperty('api-key')
  })
})

test('config problems', () => {
  const found = (provider: JsonObject) => [...checkProvider(provider)].map(({ path }) => path[0])
  const https = { endpoint: 'https://a.openai.azure.com' }
  expect(found({ ...https, api_key: 'env.K' })).toEqual([])
  expect(found(https)).toEqual(['api_key'])
  expect(found({ ...https, api_key: 'env.K', auth: {} })).toEqual(['auth'])
  expect(found({ endpoint: 'http://a.example.com', api_key: 'env.K' })).toEqual(['endpoint'])
})
