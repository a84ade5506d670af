/** Google's generateContent, with its official SDK, over routes that execute chat completions. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type ApiError, FunctionCallingConfigMode, GoogleGenAI } from '@google/genai'
import {
  ada,
  adaKey,
  eventually,
  startTestGateway,
  type TestGateway,
  testKey,
} from '../../harness/gateway.ts'
import {
  chatUsage,
  inBandError,
  spoken,
  startUpstream,
  type Upstream,
} from '../../harness/upstream.ts'

const wordCheck = new URL('../../../plugins/guardrails/__fixtures__/word-check.ts', import.meta.url)
const bobKey = testKey('bob')
const bob = {
  name: 'Bob',
  email: 'bob@example.com',
  api_keys: [{ name: 'test', value: `literal.${bobKey}`, models: ['openai/gpt-5'] }],
  budget: { cadence: 'daily', amount_usd: '0.000001' },
}
const text = spoken.pieces.join('')
const weather = {
  functionDeclarations: [
    {
      name: 'get_weather',
      description: 'The weather in a city',
      parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } },
    },
  ],
}

/** https://ai.google.dev/api/generate-content */
const native = {
  candidates: [
    {
      content: {
        role: 'model',
        parts: [{ text: 'To the sea.', thoughtSignature: 'c2ln' }],
      },
      finishReason: 'STOP',
      index: 0,
    },
  ],
  usageMetadata: {
    promptTokenCount: 4,
    candidatesTokenCount: 3,
    totalTokenCount: 9,
    thoughtsTokenCount: 2,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 4 }],
  },
  modelVersion: 'gemini-2.5-flash',
  responseId: 'r1',
}
/** What reached the native upstream last. */
let asked: { path: string; body: string } | undefined
const google = Bun.serve({
  port: 0,
  async fetch(request) {
    asked = { path: new URL(request.url).pathname, body: await request.text() }
    const text = JSON.stringify(native)
    return asked.path.includes(':stream')
      ? new Response(`data: ${text}\r\n\r\n`, { headers: { 'content-type': 'text/event-stream' } })
      : new Response(text, { headers: { 'content-type': 'application/json' } })
  },
})

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  const compatibility = { generic_compat: { supports_stream_usage: true } }
  const route = { provider: 'up', upstream_model: 'gpt-5', compatibility }
  gateway = await startTestGateway({
    users: [ada, bob],
    plugins: [{ use: 'builtin:*' }, { use: wordCheck.pathname }],
    providers: [
      { id: 'up', type: 'generic_compat', base_url: upstream.url, pricing_provider_id: 'test' },
      {
        ...{ id: 'google', type: 'gemini', api_key: 'literal.key-of-the-vendor' },
        base_url: `http://127.0.0.1:${google.port}`,
      },
    ],
    models: [
      ...['openai/gpt-5', 'org/small:v1', 'guarded'].map((id) => ({ id, routes: [route] })),
      { id: 'zap', routes: [{ provider: 'google', upstream_model: 'gemini-2.5-flash' }] },
    ],
    guardrails: {
      managed_checks: {
        texts: { kind: 'words', phases: ['prompt'], word_list: { denied_word: 'FORBIDDEN' } },
      },
      model_routes: {
        'guarded/up/gpt-5': { enabled: true, mode: 'deny', managed_checks: ['texts'] },
      },
    },
    pricing: {
      overrides: [
        {
          ...{ pricing_provider_id: 'test', model: 'gpt-5' },
          ...{ input_usd_per_million: '2', output_usd_per_million: '10' },
          cache_read_usd_per_million: '1',
        },
      ],
    },
  })
})
afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
  await google.stop(true)
})
beforeEach(() => upstream.clear())

const client = (apiKey = adaKey, requestId?: string) => {
  const headers: Record<string, string> = requestId ? { 'x-request-id': requestId } : {}
  return new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.url, headers } })
}
const failed = (call: Promise<unknown>) =>
  call.then(
    () => expect.unreachable(),
    (error: ApiError) => [error.status, JSON.parse(error.message).error] as const,
  )
const raw = (path: string, body: unknown, key = adaKey) =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'x-goog-api-key': key },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
const hello = { contents: [{ parts: [{ text: 'Hello' }] }] }

/** What was written down of a call. */
function written(id: string | null) {
  return eventually(async () => {
    const rows = await gateway.sql`
      select r.operation, r.outcome, r.status_code, c.pricing_status, c.uncached_input_tokens::int as input,
        c.cache_read_tokens::int as cached, c.completion_tokens::int as output
      from request_log.request_logs r
      left join accounting.usage_cost_events c on c.request_id = r.request_id
      where r.request_id = ${id}`
    if (rows.length > 0) expect(rows).toHaveLength(1)
    return rows[0]
  })
}

describe('the official client', () => {
  test('gets a reply, which is charged and written down once', async () => {
    const id = crypto.randomUUID()
    const reply = await client(adaKey, id).models.generateContent({
      model: 'openai/gpt-5',
      contents: 'Hello',
      config: { temperature: 1, topP: 0.95, topK: 64, maxOutputTokens: 50 },
    })
    expect([reply.text, reply.modelVersion, reply.candidates?.[0]?.finishReason]).toEqual([
      ...[text, 'openai/gpt-5', 'STOP' as never],
    ])
    expect(reply.usageMetadata).toEqual({
      promptTokenCount: chatUsage.prompt_tokens,
      cachedContentTokenCount: 8,
      candidatesTokenCount: 12,
      thoughtsTokenCount: 5,
      totalTokenCount: chatUsage.total_tokens,
    })
    expect(upstream.journal.calls[0]?.body).toEqual({
      model: 'gpt-5',
      messages: [{ role: 'user', content: 'Hello' }],
      max_completion_tokens: 50,
    })
    expect(await written(id)).toMatchObject({
      ...{ operation: 'google', outcome: 'success', pricing_status: 'priced' },
      ...{ input: 16, cached: 8, output: 17 },
    })
  })

  test('reads a stream, whose last response has the counters', async () => {
    const id = crypto.randomUUID()
    const stream = await client(adaKey, id).models.generateContentStream({
      model: 'org/small:v1',
      contents: 'Hello',
    })
    const responses = await Array.fromAsync(stream)
    expect(responses.map((response) => response.text ?? '').join('')).toBe(text)
    expect(responses.at(-1)?.usageMetadata?.totalTokenCount).toBe(chatUsage.total_tokens)
    expect(await written(id)).toMatchObject({ operation: 'google', outcome: 'success', output: 17 })
  })

  test.each([false, true])('calls a function and gets its result, streamed: %p', async (stream) => {
    const chat = client().chats.create({
      model: 'openai/gpt-5',
      config: {
        tools: [weather],
        toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO } },
      },
    })
    const send = async (message: Parameters<typeof chat.sendMessage>[0]['message']) => {
      if (!stream) return await chat.sendMessage({ message })
      const responses = await Array.fromAsync(await chat.sendMessageStream({ message }))
      return responses.at(-1) as (typeof responses)[number]
    }
    const [call] = (await send('How is it in Oslo?')).functionCalls ?? []
    expect(call).toMatchObject({ id: spoken.callId, name: 'get_weather', args: { city: 'Oslo' } })
    upstream.clear()
    const { id, name } = call ?? {}
    await send({ functionResponse: { id, name, response: { output: 'cold' } } } as never)
    const sent = upstream.journal.calls[0]?.body as { messages: { role: string }[] }
    expect(sent.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(sent.messages[2]).toMatchObject({ tool_call_id: spoken.callId, content: 'cold' })
  })

  test('counts tokens without a provider, for models that it may use', async () => {
    const count = { model: 'openai/gpt-5', contents: 'one two three four five' }
    expect((await client().models.countTokens(count)).totalTokens).toBe(5)
    expect(upstream.journal.calls).toEqual([])
    const [status] = await failed(client(bobKey).models.countTokens({ ...count, model: 'guarded' }))
    expect(status).toBe(403)
  })

  test('lists models, page by page, and shows one', async () => {
    const pager = await client().models.list({ config: { pageSize: 2 } })
    const names = (await Array.fromAsync(pager)).map(({ name }) => name)
    expect(names).toEqual([
      'models/guarded',
      'models/openai/gpt-5',
      'models/org/small:v1',
      'models/zap',
    ])
    const one = await client().models.get({ model: 'models/org/small:v1' })
    expect(one).toMatchObject({ name: 'models/org/small:v1', displayName: 'org/small:v1' })
  })

  test('is refused in the form that it reads', async () => {
    const ask = (key: string, model: string, contents = 'Hello') =>
      client(key).models.generateContent({ model, contents })
    const refusals = [
      [
        client('gwk_x').models.generateContent({ model: 'm', contents: 'x' }),
        401,
        'UNAUTHENTICATED',
      ],
      [ask(adaKey, 'gone'), 404, 'NOT_FOUND'],
      [ask(bobKey, 'guarded'), 403, 'PERMISSION_DENIED'],
      [ask(adaKey, 'guarded', 'say FORBIDDEN'), 403, 'PERMISSION_DENIED'],
      [
        ask(bobKey, 'openai/gpt-5').then(() => ask(bobKey, 'openai/gpt-5')),
        429,
        'RESOURCE_EXHAUSTED',
      ],
    ] as const
    for (const [call, code, status] of refusals) {
      const [stated, error] = await failed(call)
      expect([stated, error]).toMatchObject([code, { code, status }])
      expect(error.details[0]).toMatchObject({
        domain: 'model-gateway',
        reason: expect.any(String),
      })
    }
    expect(upstream.journal.calls).toHaveLength(1)
  })
})

describe('on the wire', () => {
  test.each([
    '/v1beta/models/openai/gpt-5',
    '/v1beta/models/openai%2Fgpt-5',
    '/v1/models/openai/gpt-5',
  ])('%s:streamGenerateContent is an array, or events with alt=sse', async (path) => {
    const array = await raw(`${path}:streamGenerateContent`, hello)
    expect(array.headers.get('content-type')).toStartWith('application/json')
    const responses = (await array.json()) as { candidates: { finishReason?: string }[] }[]
    expect(responses.length).toBeGreaterThan(2)
    expect(responses.at(-1)?.candidates[0]?.finishReason).toBe('STOP')
    const events = await raw(`${path}:streamGenerateContent?alt=sse`, hello)
    expect((await events.text()).split('\n\n').filter(Boolean)).toHaveLength(responses.length)
  })

  test('a stream that breaks ends in an error', async () => {
    upstream.script(inBandError)
    const reply = await raw('/v1beta/models/openai/gpt-5:streamGenerateContent?alt=sse', hello)
    expect(await reply.text()).toMatch(/data: \{"error":\{"code":502.*"status":"UNAVAILABLE"/)
  })

  test.each([
    ['/v1beta/models/m:embed', hello, 404, /:generateContent/],
    ['/v1beta/models/m', hello, 404, /:generateContent/],
    ['/v1beta/models/m:generateContent', '{', 400, /JSON/],
    ['/v1beta/models/openai/gpt-5:generateContent', {}, 400, /contents/],
    [
      '/v1beta/models/openai/gpt-5:generateContent',
      { ...hello, tools: [{ googleSearch: {} }] },
      400,
      /^tools is not supported by this route/,
    ],
  ])('%s with %p is refused', async (path, body, status, message) => {
    const reply = await raw(path, body)
    const { error } = (await reply.json()) as { error: { message: string } }
    expect([reply.status, error.message]).toEqual([status, expect.stringMatching(message)])
  })
})

test.each(['generateContent', 'streamGenerateContent'])(
  '%s passes as it is on a route to Gemini',
  async (method) => {
    const body =
      '{"contents":[{"parts":[{"text":"Hi"}]}],"cachedContent":"c/1", "n": 12345678901234567890}'
    const reply = await raw(`/v1beta/models/zap:${method}?alt=sse`, body)
    const isStream = method.startsWith('stream')
    const text = JSON.stringify(native)
    expect(await reply.text()).toBe(isStream ? `data: ${text}\r\n\r\n` : text)
    expect(asked).toEqual({ path: `/v1beta/models/gemini-2.5-flash:${method}`, body })
    expect(await written(reply.headers.get('x-request-id'))).toMatchObject({
      ...{ operation: 'google', outcome: 'success', output: 5 },
    })
  },
)
