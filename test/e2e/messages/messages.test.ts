import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import {
  adaKey,
  eventually,
  startTestGateway,
  type TestGateway,
  testKey,
} from '../../harness/gateway.ts'
import {
  bytes,
  errorStatus,
  inBandError,
  malformedEvent,
  paced,
  type Reply,
  resetMidStream,
  startUpstream,
  type Upstream,
} from '../../harness/upstream.ts'

const prices = {
  input_usd_per_million: '2.5',
  cache_read_usd_per_million: '0.25',
  output_usd_per_million: '10',
}
const weather: Anthropic.Tool = {
  name: 'get_weather',
  description: 'The weather in a city',
  input_schema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
}
const question = { role: 'user' as const, content: 'Please get weather data for Paris.' }
const hello = { max_tokens: 200, messages: [question] }
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image: Anthropic.ImageBlockParam = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: pixel },
}

let upstream: Upstream
let gateway: TestGateway
let client: Anthropic

function clientWith(apiKey: string): Anthropic {
  return new Anthropic({ baseURL: gateway.url, apiKey, maxRetries: 0, timeout: 60_000 })
}

beforeAll(async () => {
  upstream = await startUpstream()
  const up = {
    provider: 'up',
    upstream_model: 'upstream-1',
    compatibility: {
      generic_compat: { supports_stream_usage: true, reasoning_effort: 'passthrough' },
    },
  }
  gateway = await startTestGateway({
    server: { max_body_bytes: 100_000 },
    plugins: [
      { use: 'builtin:*' },
      { use: new URL('./__fixtures__/native-messages.ts', import.meta.url).pathname },
    ],
    providers: [
      { id: 'sim', type: 'simulator', pricing_provider_id: 'test' },
      {
        id: 'up',
        type: 'generic_compat',
        base_url: upstream.url,
        pricing_provider_id: 'test',
        timeouts: { total_ms: 2000, idle_ms: 2000 },
      },
      { id: 'native', type: 'native_echo' },
    ],
    models: [
      { id: 'sim-model', routes: [{ provider: 'sim', upstream_model: 'simulator-1' }] },
      { id: 'up-model', routes: [up] },
      { id: 'blind', routes: [{ ...up, capabilities: { vision: false, tools: false } }] },
      { id: 'native-model', routes: [{ provider: 'native', upstream_model: 'claude' }] },
    ],
    pricing: {
      overrides: ['simulator-1', 'upstream-1'].map((model) => ({
        pricing_provider_id: 'test',
        model,
        ...prices,
      })),
    },
  })
  client = clientWith(adaKey)
})

afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})

/** Pricing status and output tokens of the one ledger row of a call. */
async function ledgerRow(requestId: string) {
  const rows = await gateway.sql`
    select pricing_status, uncached_input_tokens::int as input,
      cache_read_tokens::int as cached, completion_tokens::int as output
    from accounting.usage_cost_events where request_id = ${requestId}`
  expect(rows).toHaveLength(1)
  return rows[0] as { pricing_status: string; input: number; cached: number; output: number }
}

/** The one summary of a call with its attempt and its payload. */
function logged(requestId: string) {
  return eventually(async () => {
    const rows = await gateway.sql`
      select r.*, a.status as attempt_status, p.request_json, p.response_json
      from request_log.request_logs r
      left join request_log.request_log_attempts a on a.request_log_id = r.id
      left join request_log.request_log_payloads p on p.request_log_id = r.id
      where r.request_id = ${requestId}`
    if (rows.length === 0) return undefined
    expect(rows).toHaveLength(1)
    return rows[0]
  })
}

const textOf = ({ content }: Anthropic.Message) =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('')

describe.each(['sim-model', 'up-model'])('the official client with %s', (model) => {
  test('buffered: reply, ledger and log', async () => {
    const { data, response, request_id } = await client.messages
      .create({ ...hello, model, system: 'Be brief.' })
      .withResponse()
    expect(data).toMatchObject({ type: 'message', role: 'assistant', model })
    expect(data).toMatchObject({ stop_reason: 'end_turn', stop_sequence: null })
    expect(textOf(data).length).toBeGreaterThan(0)
    const requestId = response.headers.get('x-request-id') as string
    expect(request_id).toBe(requestId)
    expect(await ledgerRow(requestId)).toEqual({
      pricing_status: 'priced',
      input: data.usage.input_tokens,
      cached: data.usage.cache_read_input_tokens as number,
      output: data.usage.output_tokens,
    })
    expect(await logged(requestId)).toMatchObject({
      operation: 'chat_completions',
      metadata_json: { operation: 'chat_completions', api_surface: 'messages', stream: false },
      model_key: model,
      status_code: 200,
      outcome: 'success',
      attempt_status: 'success',
      exposed_tool_count: 0,
      invoked_tool_count: 0,
      request_json: { body: { ...hello, model, system: 'Be brief.' } },
      response_json: { body: { type: 'message', id: data.id, content: data.content } },
    })
  })

  test('streamed, through its helper: the ledger row is there when the stream ends', async () => {
    const stream = client.messages.stream({ ...hello, model })
    const pieces: string[] = []
    stream.on('text', (piece) => pieces.push(piece))
    const final = await stream.finalMessage()
    expect(final).toMatchObject({ model, stop_reason: 'end_turn' })
    expect(textOf(final)).toBe(pieces.join(''))
    expect(pieces.length).toBeGreaterThan(1)
    expect(final.usage.output_tokens).toBeGreaterThan(0)
    const requestId = stream.request_id as string
    expect((await ledgerRow(requestId)).output).toBe(final.usage.output_tokens)
    const row = await logged(requestId)
    expect(row).toMatchObject({
      stream: true,
      outcome: 'success',
      metadata_json: { api_surface: 'messages', stream: true },
    })
    const events = row?.response_json.events as { type: string }[]
    expect(events[0]?.type).toBe('message_start')
    expect(events.at(-1)?.type).toBe('message_stop')
  })

  test.each([false, true])('tools and their results, streamed: %p', async (streamed) => {
    const ask = (messages: Anthropic.MessageParam[]) => {
      const request = { model, max_tokens: 200, tools: [weather], messages }
      return streamed
        ? client.messages.stream(request).finalMessage()
        : client.messages.create(request)
    }
    const first = await ask([question])
    expect(first.stop_reason).toBe('tool_use')
    const call = first.content.find((block) => block.type === 'tool_use')
    expect(call).toMatchObject({ name: 'get_weather', input: { city: expect.any(String) } })
    const result: Anthropic.ToolResultBlockParam = {
      type: 'tool_result',
      tool_use_id: call?.id as string,
      content: [{ type: 'text', text: 'sunny' }],
    }
    const second = await ask([
      question,
      { role: 'assistant', content: first.content },
      { role: 'user', content: [result] },
    ])
    expect(second.stop_reason).toBe('end_turn')
    expect(textOf(second).length).toBeGreaterThan(0)
  })

  test('the tool runner, which asks for a thread at first', async () => {
    let runs = 0
    const tool = betaTool({
      name: weather.name,
      description: 'The weather in a city',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
      run: () => `sunny (${++runs})`,
    })
    const request = { model, max_tokens: 200, messages: [question], tools: [tool] }
    const reply = await client.beta.messages.toolRunner(request)
    expect(reply.stop_reason).toBe('end_turn')
    expect(runs).toBe(1)
  })

  test('an image', async () => {
    const content = [image, { type: 'text' as const, text: 'What is this?' }]
    const reply = await client.messages.create({
      model,
      max_tokens: 50,
      messages: [{ role: 'user', content }],
    })
    expect(textOf(reply).length).toBeGreaterThan(0)
  })

  test('a caller that leaves a stream', async () => {
    if (model === 'up-model') upstream.script(paced(40, 10))
    const stream = client.messages.stream({ ...hello, model })
    for await (const event of stream) if (event.type === 'content_block_delta') break
    stream.abort()
    if (model === 'sim-model') return
    const requestId = stream.request_id as string
    expect(await logged(requestId)).toMatchObject({
      outcome: 'client_abort',
      attempt_status: 'client_abort',
    })
    // The upstream was read to its end, so the price is exact.
    expect((await ledgerRow(requestId)).pricing_status).toBe('priced')
  })
})

test('what a compatible upstream is sent', async () => {
  upstream.clear()
  await client.messages.create({
    model: 'up-model',
    max_tokens: 64,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [question],
    stop_sequences: ['END'],
    tools: [weather],
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
    metadata: { user_id: 'u1' },
    thinking: { type: 'enabled', budget_tokens: 2048 },
    output_config: { effort: 'low' },
  })
  expect(upstream.journal.calls[0]?.body).toEqual({
    model: 'upstream-1',
    max_tokens: 64,
    messages: [{ role: 'system', content: 'Be brief.' }, question],
    stop: ['END'],
    tools: [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description: 'The weather in a city',
          parameters: weather.input_schema as { type: 'object' },
        },
      },
    ],
    tool_choice: 'required',
    parallel_tool_calls: false,
    user: 'u1',
    reasoning_effort: 'low',
  })
})

test('what tools are called with keeps every digit, there and back', async () => {
  const input = '{"channel":1234567890123456789}'
  const call = { id: 'c', type: 'function', function: { name: 'get_weather', arguments: input } }
  const message = { role: 'assistant', content: null, tool_calls: [call] }
  const choice = { index: 0, message, finish_reason: 'tool_calls' }
  upstream.clear()
  upstream.script(bytes(JSON.stringify({ id: 'x', choices: [choice] }), 'application/json'))
  const turns = JSON.stringify([
    question,
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'b', name: 'get_weather', input: 'INPUT' }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'b', content: 'rain' }] },
  ]).replace('"INPUT"', input)
  const reply = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': adaKey },
    body: `{"model":"up-model","max_tokens":64,"messages":${turns}}`,
  })
  expect(await reply.text()).toContain(`"input":${input}`)
  expect(upstream.journal.calls[0]?.body).toMatchObject({
    messages: [{}, { tool_calls: [{ function: { arguments: input } }] }, {}],
  })
})

describe('a native route', () => {
  const request = {
    model: 'native-model',
    max_tokens: 64,
    messages: [
      question,
      {
        role: 'user' as const,
        content: [
          { type: 'tool_result' as const, tool_use_id: 't', is_error: true, content: 'no city' },
        ],
      },
    ],
    tools: [{ type: 'web_search_20250305' as const, name: 'web_search' as const }],
    thinking: { type: 'enabled' as const, budget_tokens: 2048 },
    metadata: { user_id: 'u1' },
    service_tier: 'auto' as const,
  }
  const headers = { 'anthropic-beta': 'b1,b2' }
  const whole = {
    id: 'msg_native',
    type: 'message',
    model: 'native-model',
    content: [
      { type: 'thinking', thinking: 'Let me see.', signature: 'sig' },
      { type: 'redacted_thinking', data: 'AA==' },
      { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'rivers' } },
      { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [] },
      { type: 'text', citations: null },
    ],
    stop_reason: 'pause_turn',
    container: { id: 'c1' },
    usage: {
      input_tokens: 10,
      output_tokens: 20,
      cache_creation_input_tokens: 30,
      cache_read_input_tokens: 60,
      cache_creation: { ephemeral_5m_input_tokens: 30 },
    },
  }
  const received = (reply: Anthropic.Message) => {
    const { rawBody, headers: sent } = JSON.parse(textOf(reply))
    expect(sent).toEqual({ 'anthropic-beta': 'b1,b2' })
    return JSON.parse(rawBody)
  }

  test('gets the request as it came, and its reply comes back as it is', async () => {
    const reply = await client.messages.create(request, { headers })
    expect(reply as object).toMatchObject(whole)
    expect(received(reply)).toEqual(request)
  })

  test('streamed, too', async () => {
    const reply = await client.messages.stream(request, { headers }).finalMessage()
    expect(reply as object).toMatchObject(whole)
    expect(received(reply)).toEqual({ ...request, stream: true })
  })
})

describe('an error has the shape of the messages API', () => {
  interface Case {
    readonly path?: string
    readonly body?: unknown
    readonly headers?: Record<string, string>
    readonly status: number
    readonly code: string
    readonly type: string
    readonly says?: string
  }
  const ok = { model: 'up-model', ...hello }
  const bad = { status: 400, code: 'invalid_request', type: 'invalid_request_error' }
  const unknownPath = { status: 404, code: 'not_found', type: 'not_found_error' }
  const cases: Record<string, Case> = {
    'no key': {
      headers: { authorization: '' },
      status: 401,
      code: 'missing_authorization_header',
      type: 'authentication_error',
    },
    'an unknown key, over /messages': {
      path: '/messages',
      headers: { authorization: '', 'x-api-key': testKey('stranger') },
      status: 401,
      code: 'api_key_not_found',
      type: 'authentication_error',
    },
    'a bad request id': { headers: { 'x-request-id': 'ü' }, ...bad, says: 'x-request-id' },
    'broken JSON': { body: '{"model":', ...bad, says: 'JSON' },
    'an array': { body: [], ...bad, says: 'object' },
    'too large': {
      body: { ...ok, system: 'x'.repeat(100_001) },
      status: 413,
      code: 'request_body_too_large',
      type: 'request_too_large',
    },
    'no max_tokens': { body: { ...ok, max_tokens: undefined }, ...bad, says: 'max_tokens' },
    'a bad tag': { headers: { 'x-gateway-tags': '=' }, ...bad, says: 'x-gateway-tags' },
    'an unknown model': {
      body: { ...ok, model: 'nope' },
      status: 404,
      code: 'model_not_found',
      type: 'not_found_error',
    },
    'an image for a route without vision': {
      body: { ...ok, model: 'blind', messages: [{ role: 'user', content: [image] }] },
      ...bad,
      says: 'vision',
    },
    'tools for a route without tools': {
      body: { ...ok, model: 'blind', tools: [weather] },
      ...bad,
      says: 'tools',
    },
    'a native field': { body: { ...ok, container: 'c1' }, ...bad, says: 'container' },
    'an upstream that refuses': {
      status: 429,
      code: 'scripted',
      type: 'rate_limit_error',
      says: 'slow down',
    },
    'a count of nothing': {
      path: '/v1/messages/count_tokens',
      body: { model: ok.model },
      ...bad,
      says: 'messages',
    },
    'a count for an unknown model, the short way': {
      path: '/messages/count_tokens',
      body: { ...ok, model: 'nope' },
      status: 404,
      code: 'model_not_found',
      type: 'not_found_error',
    },
    batches: { path: '/v1/messages/batches', ...unknownPath },
  }
  test.each(Object.entries(cases))(
    '%s',
    async (name, { path, body = ok, headers, ...expected }) => {
      if (name === 'an upstream that refuses') upstream.script(errorStatus(429, 'slow down'))
      const response = await gateway.post(path ?? '/v1/messages', body, headers)
      const requestId = response.headers.get('x-request-id') as string
      const { status, code, type, says = '' } = expected
      expect(response.status).toBe(status)
      expect(response.headers.get('request-id')).toBe(requestId)
      expect(await response.json()).toMatchObject({
        type: 'error',
        error: { type, code, message: expect.stringContaining(says) },
        request_id: requestId,
      })
    },
  )

  test('a used request id', async () => {
    const headers = { 'x-request-id': 'messages-twice' }
    await client.messages.create(ok, { headers })
    const error = await client.messages.create(ok, { headers }).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(Anthropic.BadRequestError)
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error' })
  })

  test('as the official client sees it', async () => {
    const stranger = await clientWith('sk-foreign')
      .messages.create(ok)
      .catch((e) => e)
    expect(stranger).toBeInstanceOf(Anthropic.AuthenticationError)
    expect(stranger.type).toBe('authentication_error')
    expect(stranger.requestID).toBeString()
    const missing = await client.messages.create({ ...ok, model: 'nope' }).catch((e) => e)
    expect(missing).toBeInstanceOf(Anthropic.NotFoundError)
  })
})

describe('a stream that fails', () => {
  const cases: [string, Reply, string, string][] = [
    ['by an error of the upstream', inBandError, 'overloaded', 'overloaded_error'],
    ['by a malformed event', malformedEvent, 'upstream_transport', 'api_error'],
    ['by a broken connection', resetMidStream(3), 'upstream_transport', 'api_error'],
  ]
  test.each(cases)('%s ends with one error event', async (_, reply, code, type) => {
    upstream.script(reply)
    const body = { model: 'up-model', ...hello, stream: true }
    const response = await gateway.post('/v1/messages', body)
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    const frames = (await response.text()).split('\n\n').slice(0, -1)
    const names = frames.map((frame) => /^event: (\w+)\ndata: /.exec(frame)?.[1])
    expect(names[0]).toBe('message_start')
    expect(names.filter((name) => name === 'error')).toHaveLength(1)
    expect(names.at(-1)).toBe('error')
    expect(names).not.toContain('message_stop')
    const data = frames.at(-1)?.split('data: ')[1] as string
    const requestId = response.headers.get('x-request-id') as string
    expect(JSON.parse(data)).toMatchObject({
      type: 'error',
      error: { type, code, message: expect.any(String) },
      request_id: requestId,
    })
    expect(await logged(requestId)).toMatchObject({
      outcome: 'upstream_error',
      attempt_status: 'stream_error',
      error_code: code,
    })
  })

  test('fails for the official client', async () => {
    upstream.script(inBandError)
    const stream = client.messages.stream({ model: 'up-model', ...hello })
    const error = await stream.finalMessage().catch((thrown) => thrown)
    expect(error).toBeInstanceOf(Anthropic.APIError)
    expect(error.type).toBe('overloaded_error')
  })
})
