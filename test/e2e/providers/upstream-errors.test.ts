import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import {
  adaKey,
  eventually,
  startTestGateway,
  type TestGateway,
  testKey,
} from '../../harness/gateway.ts'
import {
  believable,
  bytes,
  htmlError,
  inBandError,
  json,
  type Reply,
  startUpstream,
  streamed,
  type Upstream,
} from '../../harness/upstream.ts'

let upstream: Upstream
let gateway: TestGateway
const bobKey = testKey('bob')
const TOKEN = 'upstream-secret-0123456789'

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startTestGateway({
    providers: [
      {
        id: 'up',
        type: 'generic_compat',
        base_url: upstream.url,
        auth: { mode: 'bearer', token: `literal.${TOKEN}` },
        pricing_provider_id: 'test',
      },
      { id: 'sim', type: 'simulator', pricing_provider_id: 'test' },
    ],
    models: [
      { id: 'm', routes: [{ provider: 'up', upstream_model: 'u' }] },
      { id: 'dear', routes: [{ provider: 'sim', upstream_model: 'simulator-1' }] },
    ],
    pricing: {
      overrides: [
        {
          pricing_provider_id: 'test',
          model: 'simulator-1',
          input_usd_per_million: '1000',
          output_usd_per_million: '1000',
        },
      ],
    },
    users: [
      {
        name: 'Ada',
        email: 'ada@example.com',
        api_keys: [{ name: 'all', value: `literal.${adaKey}`, all_models: true }],
      },
      {
        name: 'Bob',
        email: 'bob@example.com',
        api_keys: [{ name: 'all', value: `literal.${bobKey}`, all_models: true }],
        budget: { cadence: 'daily', amount_usd: '0.0001' },
      },
    ],
  })
})

afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})

const messages = [{ role: 'user' as const, content: 'hi' }]
const bodies = {
  'chat/completions': { model: 'm', messages },
  responses: { model: 'm', input: 'hi' },
  messages: { model: 'm', max_tokens: 9, messages },
}

async function ask(reply: Reply, path: keyof typeof bodies = 'chat/completions', more = {}) {
  upstream.clear()
  upstream.script(reply)
  const response = await gateway.post(`/v1/${path}`, { ...bodies[path], ...more })
  const text = await response.text()
  const body = () => (JSON.parse(text) as { error: Record<string, unknown> }).error
  return { status: response.status, headers: response.headers, text, body }
}

const overflow = {
  message:
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens.",
  type: 'invalid_request_error',
  param: 'messages',
  code: 'context_length_exceeded',
}

describe('the words of a provider', () => {
  test.each<[string, Reply, Record<string, unknown>]>([
    ['OpenAI', json({ error: overflow }, 400), overflow],
    [
      'the code alone',
      json({ error: { code: 'context_length_exceeded', param: 'input' } }, 400),
      { code: 'context_length_exceeded', param: 'input', type: 'upstream_error' },
    ],
    [
      'a quota',
      json(
        { error: { message: 'Pay', type: 'insufficient_quota', code: 'insufficient_quota' } },
        429,
      ),
      { code: 'insufficient_quota', type: 'insufficient_quota', param: null },
    ],
    [
      'Google',
      json([{ error: { code: 400, status: 'INVALID_ARGUMENT', message: 'Bad' } }], 400),
      { code: 'INVALID_ARGUMENT', message: 'Bad' },
    ],
    ['a number', json({ error: { code: 429, message: 'Slow' } }, 429), { code: '429' }],
    [
      'a page for a code',
      json({ error: { code: '<html>', type: '<html>', param: '<html>', message: '<html>' } }, 400),
      { code: 'upstream_http_error', type: 'upstream_error', param: null },
    ],
    ['a page', htmlError, { code: 'upstream_http_error', type: 'upstream_error' }],
    ['nothing', bytes('', 'text/plain', 500), { message: 'the upstream answered with status 500' }],
  ])('reach the caller: %s', async (_, reply, words) => {
    for (const path of ['chat/completions', 'responses'] as const) {
      const { body, text } = await ask(reply, path)
      expect(body()).toMatchObject({ ...words, gateway_code: 'upstream_http_error' })
      expect(text).not.toContain('<html')
    }
  })

  test('the log has the code of the gateway', async () => {
    const { headers } = await ask(json({ error: overflow }, 400))
    const [row] = await eventually(async () => {
      const rows = await gateway.sql`
        select error_code from request_log.request_logs
        where request_id = ${headers.get('x-request-id')}`
      return rows.length > 0 ? rows : undefined
    })
    expect(row).toEqual({ error_code: 'upstream_http_error' })
  })

  test('an overflow has one code, whatever the provider says', async () => {
    for (const [message, status] of [
      ['Input is too long for requested model.', 400],
      ['prompt is too long: 210118 tokens > 200000 maximum', 400],
      ['The input token count (9) exceeds the maximum number of tokens allowed (8).', 400],
      ['request (9 tokens) exceeds the available context size (8 tokens)', 500],
    ] as const) {
      const { body } = await ask(
        json({ error: { message, type: 'BadRequest', code: 400 } }, status),
      )
      expect(body()).toMatchObject({ code: 'context_length_exceeded', message })
    }
    const words = { message: 'maximum context length is 8 tokens', code: 'slow' }
    expect((await ask(json({ error: words }, 429))).body()).toMatchObject({ code: 'slow' })
  })
})

describe('on messages routes', () => {
  test.each([
    [400, 400, 'invalid_request_error'],
    [401, 502, 'api_error'],
    [402, 402, 'billing_error'],
    [404, 404, 'not_found_error'],
    [413, 413, 'request_too_large'],
    [422, 422, 'invalid_request_error'],
    [429, 429, 'rate_limit_error'],
    [500, 500, 'api_error'],
    [504, 504, 'timeout_error'],
    [529, 529, 'overloaded_error'],
  ])('a status of %i becomes %i %s', async (given, status, type) => {
    const told = await ask(
      json({ error: { message: 'No', code: 'why', param: 'p' } }, given),
      'messages',
    )
    expect([told.status, told.body()]).toMatchObject([
      status,
      { type, code: 'why', param: 'p', gateway_code: 'upstream_http_error', message: 'No' },
    ])
  })

  test('an overflow is told in the words by which agents compact', async () => {
    const message = async (error: object, more = {}) =>
      (await ask(json({ error: error as { message: string } }, 400), 'messages', more)).body()
    expect(await message(overflow)).toMatchObject({
      type: 'invalid_request_error',
      message: 'prompt is too long: 8545 tokens > 8192 maximum',
    })
    expect((await message({ message: 'Input is too long for requested model.' })).message).toBe(
      'prompt is too long: Input is too long for requested model.',
    )
    const own = 'prompt is too long: 9 tokens > 8 maximum'
    expect((await message({ message: own })).message).toBe(own)
  })

  test('an error in the stream has its words and a type that clients know', async () => {
    const { text } = await ask(inBandError, 'messages', { stream: true })
    const data = /event: error\ndata: (.*)/.exec(text)?.[1] ?? ''
    expect(JSON.parse(data)).toMatchObject({
      error: { type: 'overloaded_error', code: 'overloaded', message: 'The model is overloaded' },
    })
  })
})

const choice = { index: 0, finish_reason: 'stop' }
const completion = {
  object: 'chat.completion',
  choices: [{ ...choice, message: { role: 'assistant', content: 'hi' } }],
}
const chunk = `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ ...choice, delta: { content: 'hi' } }] })}\n\ndata: [DONE]\n\n`

describe('headers of a provider', () => {
  const limits = {
    'retry-after': '17',
    'retry-after-ms': '17000',
    'x-should-retry': 'true',
    'x-ratelimit-remaining-requests': '0',
    'x-ratelimit-reset-tokens': '6m0s',
    'anthropic-ratelimit-tokens-reset': '2026-11-26T00:00:00Z',
  }
  const others = {
    'x-ratelimit-long': '9'.repeat(200),
    'x-ratelimit-odd': '<html>',
    'x-ratelimit-secret': TOKEN,
    'x-ratelimit-key': 'sk-abcdefgh12345678',
    'x-internal': 'host-17',
    'set-cookie': 'a=b',
  }
  const headers = { ...limits, ...others, 'x-request-id': 'req_up' }

  test.each([
    ['a reply', json(completion, 200, headers), false],
    ['a stream', streamed({ 'content-type': 'text/event-stream', ...headers }, [chunk]), true],
    ['an error', json({ error: { message: 'Slow' } }, 429, headers), false],
    ['an error in the place of a stream', json({ error: { message: 'Slow' } }, 429, headers), true],
  ])('pass with %s', async (_, reply, stream) => {
    const told = await ask(reply, 'chat/completions', { stream })
    const passed = Object.keys({ ...limits, ...others }).filter((name) => told.headers.has(name))
    expect(passed).toEqual(Object.keys(limits))
    expect(told.headers.get('retry-after')).toBe('17')
    expect(told.headers.get('x-upstream-request-id')).toBe('req_up')
  })

  test('the request id of the provider is in the log', async () => {
    const told = await ask(json({ error: { message: 'No' } }, 500, { 'x-amzn-requestid': 'aws-1' }))
    const id = told.headers.get('x-request-id')
    const [row] = await eventually(async () => {
      const rows = await gateway.sql`
        select upstream_request_id from request_log.request_log_attempts where request_id = ${id}`
      return rows.length > 0 ? rows : undefined
    })
    expect(row).toEqual({ upstream_request_id: 'aws-1' })
  })
})

test('a refusal that another try cannot change says so; what may pass does not', async () => {
  const verdict = async (model: string, key = adaKey) => {
    const authorization = `Bearer ${key}`
    const { status, headers } = await gateway.post(
      '/v1/chat/completions',
      { model, messages },
      { authorization },
    )
    return [status, headers.get('x-should-retry')]
  }
  expect(await verdict('none')).toEqual([404, 'false'])
  expect(await verdict('m', testKey('nobody'))).toEqual([401, 'false'])
  for (const status of [400, 429, 500, 503]) {
    const told = await ask(json({ error: { message: 'No' } }, status))
    expect([told.status, told.headers.get('x-should-retry')]).toEqual([status, null])
  }
})

describe('official clients', () => {
  const counted = async (fails: (baseURL: string) => Promise<unknown>) => {
    let calls = 0
    const door = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch(request) {
        calls++
        const { pathname } = new URL(request.url)
        return fetch(`${gateway.url}${pathname}`, request)
      },
    })
    const error = await fails(`http://127.0.0.1:${door.port}`).catch((thrown: unknown) => thrown)
    await door.stop(true)
    return { calls, error }
  }

  test('ask once where a budget is used up, and show the reason', async () => {
    const dear = { model: 'dear', messages, max_tokens: 9 }
    const asBob = { authorization: `Bearer ${bobKey}` }
    await (await gateway.post('/v1/chat/completions', dear, asBob)).text()
    const refused = await gateway.post('/v1/chat/completions', dear, asBob)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 86_401)
    const body = (await refused.json()) as { error: { resets_at: string } }
    expect(new Date(body.error.resets_at).getUTCHours()).toBe(0)

    const openai = await counted((url) =>
      new OpenAI({ apiKey: bobKey, baseURL: `${url}/v1` }).chat.completions.create(dear),
    )
    expect(openai.calls).toBe(1)
    expect(openai.error).toMatchObject({ status: 429, code: 'budget_exceeded' })
    expect(String(openai.error)).toMatch(
      /budget of bob@example\.com, .* USD, is used up: quota exceeded, it will reset at/,
    )

    const anthropic = await counted((baseURL) =>
      new Anthropic({ apiKey: bobKey, baseURL }).messages.create(dear),
    )
    expect(anthropic.calls).toBe(1)
    expect(String(anthropic.error)).toContain('is used up: quota exceeded, it will reset at')
    expect(anthropic.error).toBeInstanceOf(Anthropic.RateLimitError)
  })

  test('try again when the provider says so', async () => {
    upstream.clear()
    upstream.script(json({ error: { message: 'Busy' } }, 529, { 'retry-after-ms': '1' }))
    upstream.script(believable())
    const { calls, error } = await counted((url) =>
      new OpenAI({ apiKey: adaKey, baseURL: `${url}/v1` }).chat.completions.create({
        model: 'm',
        messages,
      }),
    )
    expect(calls).toBe(2)
    expect(error).toMatchObject({ object: 'chat.completion' })
  })
})
