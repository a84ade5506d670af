/** What goes out on the wire, as the upstream's journal saw it. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { type JsonObject, Secret } from 'model-gateway/plugin'
import type { RouteSpec } from 'model-gateway/provider'
import {
  collectEvents,
  type JournalCall,
  json,
  providerCall,
  type Reply,
  setUpProvider,
  sse,
  startUpstream,
} from 'model-gateway/testing'
import { strictly } from '../../test/harness/strict-clouds.ts'
import {
  converseFrames,
  converseReply,
  converseUsage,
  framed,
} from '../../test/harness/upstream-clouds-aws.ts'
import {
  messagesFrames,
  messagesReply,
  messagesUsage,
  type Said,
} from '../../test/harness/upstream-clouds-messages.ts'
import plugin from './index.ts'
import type { ApiStyle } from './styles.ts'

const said: Said = {
  blocks: [{ kind: 'text', pieces: ['Downhill.'] }],
  stopReason: 'end_turn',
  usage: {},
}
const unified = { ...said, usage: converseUsage }
const native = { ...said, usage: messagesUsage }

const reply: Reply = (x) => {
  const { path, headers } = x.call
  const streamed = headers.accept !== 'application/json'
  if (path.endsWith('/converse-stream')) return framed(converseFrames(unified))(x)
  if (path.endsWith('/converse')) return json(converseReply(unified))(x)
  if (path.endsWith('/invoke')) return json(messagesReply(native))(x)
  if (path.endsWith('/messages')) {
    return streamed ? sse(messagesFrames(native))(x) : json(messagesReply(native))(x)
  }
  return path.endsWith('/responses')
    ? json({ id: 'resp_1', model: 'up', output: [] })(x)
    : json({ id: 'c', model: 'up', choices: [] })(x)
}

const upstream = await startUpstream()
beforeEach(() => {
  upstream.clear()
  upstream.always(strictly(reply))
})

const keys = {
  mode: 'static',
  access_key_id: new Secret('AKIDEXAMPLE'),
  secret_access_key: new Secret('secret'),
  session_token: new Secret('session'),
}
const bearer = { mode: 'bearer', token: new Secret('bedrock-key') }
const bench = (auth: unknown, settings = {}) =>
  setUpProvider({
    plugin,
    type: 'cloud_b_ml',
    config: { region: 'eu-west-1', endpoint_url: new URL(upstream.url).origin, auth },
    settings: {
      defaultHeaders: { Authorization: 'Basic no', 'X-Amz-Date': 'no', 'X-Default': 'provider' },
      ...settings,
    },
  })
const benches = {
  static: await bench(keys),
  bearer: await bench(bearer),
  priced: await bench(keys, { pricingProviderId: 'my-prices' }),
}
afterAll(async () => {
  for (const { dispose } of Object.values(benches)) await dispose()
  await upstream.stop()
})

const MODEL = 'us.anthropic.claude-sonnet-4-6-v1:0'
const chat = { model: 'asked', messages: [{ role: 'user', content: 'hi' }], max_tokens: 9 }

async function run(
  style: ApiStyle,
  body: JsonObject = chat,
  route: Partial<RouteSpec> = {},
  auth: keyof typeof benches = 'static',
) {
  const base = style.includes('generic') ? { base_path: '/openai/v1/' } : {}
  const bound = benches[auth].bind({
    upstreamModel: MODEL,
    compatibility: { cloud_b_ml: { api_style: style, ...base } },
    ...route,
  })
  const execute =
    style === 'edge_generic_responses' ? bound.execute.responses : bound.execute.chat_completions
  const result = await execute?.(providerCall(body))
  const events = result?.kind === 'stream' ? await collectEvents(result) : []
  const sent = upstream.journal.calls.at(-1) as JournalCall
  return { bound, result, events, sent, body: sent?.body as JsonObject }
}

describe('each style has its path, its service and its families', () => {
  test.each<[ApiStyle, string, string, string]>([
    ['runtime_unified', `/model/${encodeURIComponent(MODEL)}/converse`, 'bedrock', 'chat'],
    ['runtime_native_invoke', `/model/${encodeURIComponent(MODEL)}/invoke`, 'bedrock', 'chat'],
    ['runtime_generic_chat', '/openai/v1/chat/completions', 'bedrock', 'chat'],
    ['edge_generic_responses', '/openai/v1/responses', 'bedrock-mantle', 'responses'],
    ['edge_generic_chat', '/openai/v1/chat/completions', 'bedrock-mantle', 'chat'],
    ['edge_native_messages', '/anthropic/v1/messages', 'bedrock-mantle', 'chat'],
  ])('%s', async (style, path, service, family) => {
    const { sent, bound } = await run(style)
    expect(`${sent.method} ${sent.path}`).toBe(`POST ${path}`)
    expect(sent.headers.authorization).toContain(`/eu-west-1/${service}/aws4_request`)
    expect([bound.execute.chat_completions, bound.execute.responses].map(Boolean)).toEqual([
      family === 'chat',
      family === 'responses',
    ])
    expect(bound.execute.embeddings).toBeUndefined()
    expect(bound.execute.messages !== undefined).toBe(
      style === 'runtime_native_invoke' || style === 'edge_native_messages',
    )
    expect(bound.supports.includes('json_schema')).toBe(style === 'edge_generic_responses')
    // Without the flag the gateway refuses a stream before any call.
    expect(bound.supports.includes('stream')).toBe(style !== 'runtime_native_invoke')
  })
})

describe('headers', () => {
  test('of a signed call have no configured authentication', async () => {
    const { sent } = await run('runtime_unified', chat, { extraHeaders: { 'OpenAI-Project': 'p' } })
    expect(sent.headers).toMatchObject({
      'content-type': 'application/json',
      accept: 'application/json',
      'x-default': 'provider',
      'openai-project': 'p',
      'x-request-id': 'bench-request',
      'x-amz-security-token': 'session',
    })
    expect(sent.headers.authorization).toStartWith('AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/')
    expect(sent.headers.authorization).toContain(
      'SignedHeaders=host;x-amz-date;x-amz-security-token,',
    )
    expect(sent.headers['x-amz-date']).toMatch(/^\d{8}T\d{6}Z$/)
  })

  test('of a bearer call', async () => {
    const { headers } = (await run('runtime_unified', chat, {}, 'bearer')).sent
    expect(headers.authorization).toBe('Bearer bedrock-key')
    expect(headers).not.toHaveProperty('x-amz-date')
    const edge = (await run('edge_native_messages', chat, {}, 'bearer')).sent.headers
    expect(edge['x-api-key']).toBe('bedrock-key')
    expect(edge).not.toHaveProperty('authorization')
  })

  test('of native messages: version and betas, the configured ones too', async () => {
    const body = { ...chat, anthropic_beta: ['b', 'c'] }
    const extraHeaders = { 'Anthropic-Beta': 'a, b' }
    const { sent } = await run('edge_native_messages', body, { extraHeaders })
    expect(sent.headers).toMatchObject({
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'a,b,c',
    })
    expect((await run('edge_native_messages')).sent.headers).not.toHaveProperty('anthropic-beta')
  })

  test('of streams have the right accept header', async () => {
    const stream = { ...chat, stream: true }
    expect((await run('runtime_unified', stream)).sent.headers.accept).toBe(
      'application/vnd.amazon.eventstream',
    )
    expect((await run('edge_native_messages', stream)).sent.headers.accept).toBe(
      'text/event-stream',
    )
  })
})

describe('bodies', () => {
  test('of the generic styles are the caller’s, with extra_body merged last', async () => {
    const fields = { ...chat, user: 'me', reasoning_effort: 'low', seed: 1 }
    const extraBody = { user: null, metadata: { a: 1 } }
    for (const style of ['runtime_generic_chat', 'edge_generic_chat'] as const) {
      const { body, result } = await run(style, fields, { extraBody })
      expect(body).toEqual({ ...fields, model: MODEL, ...extraBody })
      if (result?.kind !== 'buffered') throw new Error('not buffered')
      expect(result.rawBody).toBe(JSON.stringify(result.body))
    }
  })

  test('of the generic styles are adapted for the messages API', async () => {
    const profile = {
      compatibility: { cloud_b_ml: { api_style: 'edge_generic_chat', base_path: '/v1' } },
    }
    const call = providerCall({ ...chat, user: 'u'.repeat(65) })
    const surface = { surface: 'messages', rawBody: undefined } as const
    await benches.static
      .bind({ upstreamModel: 'openai.gpt-5.5', ...profile })
      .execute.chat_completions?.({ ...call, ...surface })
    const sent = upstream.journal.calls.at(-1)?.body as JsonObject | undefined
    expect(sent?.user).toMatch(/^user_[\w-]{43}$/)
    expect(sent).toMatchObject({ max_completion_tokens: 9 })
    expect(sent).not.toHaveProperty('max_tokens')
  })

  test('of the generic styles have no preserved reasoning', async () => {
    const said = { role: 'assistant', content: 'a' }
    const reasoning = { source: 'anthropic_messages', blocks: [] }
    const replayed = { ...said, provider_metadata: { cloud_b_ml: { reasoning } } }
    const messages = [...chat.messages, replayed, ...chat.messages]
    const { body } = await run('edge_generic_chat', { ...chat, messages })
    expect(body.messages).toEqual([...chat.messages, said, ...chat.messages])
  })

  test('of responses have no hosted image tool', async () => {
    const image = { type: 'image_generation' }
    const { body } = await run('edge_generic_responses', {
      model: 'asked',
      input: 'x',
      tools: [image],
    })
    expect(body).toEqual({ model: MODEL, input: 'x' })
    upstream.clear()
    const required = { model: 'asked', input: 'x', tools: [image], tool_choice: 'required' }
    await expect(run('edge_generic_responses', required)).rejects.toMatchObject({
      code: 'invalid_request',
    })
    const forced = { extraBody: { tools: [image], tool_choice: image } }
    await expect(
      run('edge_generic_responses', { model: 'asked', input: 'x' }, forced),
    ).rejects.toMatchObject({ code: 'invalid_request' })
    expect(upstream.journal.calls).toEqual([])
  })

  test.each(['runtime_unified', 'runtime_native_invoke', 'edge_native_messages'] as const)(
    'structured output is refused with the style that has it: %s',
    async (style) => {
      const asked = { ...chat, response_format: { type: 'json_object' } }
      await expect(run(style, asked)).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringMatching(
          new RegExp(`^response_format: api_style ${style} .* edge_generic_responses`),
        ),
      })
      await run(style, asked, { unsupportedParams: 'drop' })
      const neutral = { ...chat, response_format: { type: 'text' } }
      await run(style, neutral)
      const [dropped, text] = upstream.journal.calls.map(({ body }) => body)
      expect(dropped).toEqual(text)
    },
  )

  test('a locally refused call is never sent', async () => {
    const cases: [ApiStyle, JsonObject][] = [
      ['runtime_unified', { ...chat, logprobs: true }],
      ['runtime_native_invoke', { ...chat, max_tokens: null }],
      ['edge_native_messages', { ...chat, n: 2 }],
    ]
    for (const [style, body] of cases) {
      await expect(run(style, body)).rejects.toMatchObject({ code: 'invalid_request', status: 400 })
    }
    expect(upstream.journal.calls).toEqual([])
  })
})

describe('replies', () => {
  test.each<[ApiStyle]>([['runtime_unified'], ['runtime_native_invoke'], ['edge_native_messages']])(
    '%s',
    async (style) => {
      const { result } = await run(style)
      expect(result).toMatchObject({
        kind: 'buffered',
        billingModifiers: [],
        body: {
          object: 'chat.completion',
          model: 'asked',
          choices: [
            {
              index: 0,
              message: { role: 'assistant', content: 'Downhill.' },
              finish_reason: 'stop',
            },
          ],
          usage: { completion_tokens: 17 },
        },
      })
    },
  )

  test.each<[ApiStyle]>([['runtime_unified'], ['edge_native_messages']])(
    '%s, streamed',
    async (style) => {
      const { events } = await run(style, { ...chat, stream: true })
      expect(events.at(-1)?.data).toBe('[DONE]')
      const texts = events
        .slice(0, -1)
        .map((event) => event.json() as { choices: { delta: { content?: string } }[] })
        .map(({ choices }) => choices[0]?.delta.content ?? '')
      expect(texts.join('')).toBe('Downhill.')
    },
  )

  test('a native service tier is a billing modifier', async () => {
    const route = { extraBody: { service_tier: 'flex' } }
    for (const style of ['runtime_native_invoke', 'edge_generic_chat'] as const) {
      expect((await run(style, chat, route)).result?.billingModifiers).toEqual(['service_tier'])
    }
  })
})

describe('the price of a route', () => {
  const priced = async (upstreamModel: string, extraHeaders = {}) =>
    (await run('runtime_unified', chat, { upstreamModel, extraHeaders })).bound.pricing

  test('is that of the model id, or of the last part of its ARN', async () => {
    const of = (model: string) => ({ pricingProviderId: 'amazon-bedrock', model })
    expect(await priced(MODEL)).toEqual(of(MODEL))
    const arn = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/'
    expect(await priced(`${arn}global.anthropic.claude-opus-5`)).toEqual(
      of('global.anthropic.claude-opus-5'),
    )
  })

  test('uses the provider’s price list', async () => {
    const { bound } = await run('runtime_unified', chat, {}, 'priced')
    expect(bound.pricing).toEqual({ pricingProviderId: 'my-prices', model: MODEL })
  })

  test('is unknown with a header that changes it', async () => {
    const tier = { 'X-Amzn-Bedrock-Service-Tier': 'priority' }
    expect(await priced(MODEL, tier)).toMatchObject({ unpriceable: 'unsupported_billing_modifier' })
    const latency = { 'X-Amzn-Bedrock-PerformanceConfig-Latency': 'standard' }
    expect(await priced(MODEL, latency)).not.toHaveProperty('unpriceable')
  })
})
