/** Through a whole gateway: the official clients, the ledger, the errors a caller sees. */

import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import type { JsonObject } from 'model-gateway/plugin'
import { adaKey } from '../../test/harness/gateway.ts'
import type { ApiCall } from '../../test/harness/upstream-clouds-google.ts'
import { eventStream, startVertexGateway } from './testing.ts'

const google = `${import.meta.dir}/../_shared/__fixtures__/google`
const claude = `${import.meta.dir}/../_shared/__fixtures__/messages-tools`
const files = new Map<string, string>()
for (const name of [`${google}-text`, `${google}-tools`, claude]) {
  for (const end of ['json', 'sse']) {
    files.set(`${name}.${end}`, await Bun.file(`${name}.${end}`).text())
  }
}

/** A reply as the path and the tools of the request ask for it. */
function answer({ path, body }: ApiCall): Response {
  if (path.endsWith(':predict')) {
    const instances = body.instances as JsonObject[]
    if (instances.some(({ content }) => content === 'fail')) {
      return Response.json({ error: { code: 429, message: 'Quota' } }, { status: 429 })
    }
    const statistics = { token_count: 1000, truncated: false }
    return Response.json({
      predictions: instances.map(() => ({ embeddings: { values: [0.5], statistics } })),
    })
  }
  const name = path.includes('/anthropic/')
    ? claude
    : `${google}-${body.tools === undefined ? 'text' : 'tools'}`
  return path.includes(':stream')
    ? eventStream(files.get(`${name}.sse`) ?? '')
    : Response.json(JSON.parse(files.get(`${name}.json`) ?? ''))
}

const embedding = { upstream_model: 'google/gemini-embedding-001' }
const vertex = await startVertexGateway(
  {
    gemini: { upstream_model: 'google/gemini-2.5-flash' },
    claude: { upstream_model: 'anthropic/claude-sonnet-4-6' },
    embed: embedding,
    encoded: { ...embedding, compatibility: { cloud_a_ml: { base64: 'encode' } } },
  },
  { accounting: { abort_drain_secs: 0.2 } },
)
const { cloud, gateway, ledgerRow } = vertex
beforeEach(() => {
  cloud.clear()
  cloud.answer = answer
})
afterAll(vertex.stop)

const tools = ['weather', 'clock'].map((name) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object' } },
}))
const ask = (model: string) => ({
  model,
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: 'Tromsø?' }],
})

describe('the openai client', () => {
  test.each(['gemini', 'claude'])('%s with tools: streamed as buffered', async (model) => {
    const { completions } = gateway.openai(adaKey).chat
    const buffered = await completions.create({ ...ask(model), tools })
    const streamed = await completions.stream({ ...ask(model), tools }).finalChatCompletion()
    for (const completion of [buffered, streamed]) {
      const [choice] = completion.choices
      expect([completion.model, choice?.finish_reason]).toEqual([model, 'tool_calls'])
      const calls = choice?.message.tool_calls ?? []
      expect(calls.map((call) => call.type === 'function' && call.function.name)).toEqual([
        'weather',
        'clock',
      ])
    }
  })

  test('gemini without tools', async () => {
    const { completions } = gateway.openai(adaKey).chat
    const text = await completions.stream(ask('gemini')).finalContent()
    expect(text).toStartWith('Rivers run to the sea — 海 🌊')
    expect((await completions.create(ask('gemini'))).choices[0]?.message.content).toBe(text)
  })

  test('embeddings', async () => {
    const { data, usage } = await gateway
      .openai(adaKey)
      .embeddings.create({ model: 'embed', input: ['a', 'b'], encoding_format: 'float' })
    expect(data.map(({ index, embedding }) => [index, embedding])).toEqual([
      [0, [0.5]],
      [1, [0.5]],
    ])
    expect(usage).toEqual({ prompt_tokens: 2000, total_tokens: 2000 })
  })

  test('embeddings as it asks for them by itself', async () => {
    const { embeddings } = gateway.openai(adaKey)
    const { data } = await embeddings.create({ model: 'encoded', input: ['a', 'b'] })
    expect(data.map(({ embedding }) => embedding)).toEqual([[0.5], [0.5]])
    const refused = await embeddings.create({ model: 'embed', input: 'a' }).catch(String)
    expect(refused).toContain('compatibility.cloud_a_ml.base64: encode')
  })
})

describe('the anthropic client', () => {
  const client = () =>
    new Anthropic({ apiKey: adaKey, baseURL: gateway.url, maxRetries: 0 }).messages
  const offered = tools.map((tool) => ({
    name: tool.function.name,
    input_schema: { type: 'object' as const },
  }))

  test.each(['gemini', 'claude'])('%s with tools: streamed as buffered', async (model) => {
    const request = { ...ask(model), tools: offered }
    const buffered = await client().create(request)
    const streamed = await client().stream(request).finalMessage()
    for (const message of [buffered, streamed]) {
      expect([message.model, message.stop_reason]).toEqual([model, 'tool_use'])
      const used = message.content.filter((block) => block.type === 'tool_use')
      expect(used.map(({ name }) => name)).toEqual(['weather', 'clock'])
    }
    expect<unknown>(streamed.content).toEqual(buffered.content)
  })

  test('thoughts of claude come back; what only its API knows goes out', async () => {
    const message = await client().create({
      ...ask('claude'),
      metadata: { user_id: 'u-1' },
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    })
    expect(message.content[0]).toMatchObject({
      type: 'thinking',
      signature: 'ErUBCkYIBRgCKkDx+/9w==',
    })
    expect(cloud.calls[0]?.body).toMatchObject({
      metadata: { user_id: 'u-1' },
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    })
  })
})

/** Text, and no end. */
function endless(text: string): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({ start: (to) => to.enqueue(new TextEncoder().encode(text)) })
}

async function send(path: string, body: JsonObject) {
  const response = await gateway.post(path, body)
  const text = await response.text()
  const requestId = response.headers.get('x-request-id') ?? ''
  return { status: response.status, text, requestId }
}

describe('the ledger', () => {
  test.each([
    // (31 - 16) × 0.3 + 16 × 0.03 + 112 × 2.5, in USD per million.
    ['gemini', 31, 112, '284980000'],
    // 412 × 3 + 128 × 0.3 + 97 × 15.
    ['claude', 540, 97, '2729400000'],
  ])('%s: every bucket is priced, streamed or not', async (model, prompt, completion, cost) => {
    for (const stream of [false, true]) {
      const { requestId } = await send('/v1/chat/completions', { ...ask(model), stream })
      expect(await ledgerRow(requestId)).toEqual({
        pricing_status: 'priced',
        cost,
        prompt,
        completion,
      })
    }
  })

  test('gemini: a stream that its caller leaves is charged by what was counted last', async () => {
    const event = (candidatesTokenCount: number) => {
      const usageMetadata = { promptTokenCount: 10, candidatesTokenCount }
      const candidates = [{ content: { parts: [{ text: 'a' }] } }]
      return `data: ${JSON.stringify({ candidates, usageMetadata })}\r\n\r\n`
    }
    cloud.answer = () => eventStream(endless(event(1) + event(2)))
    const body = { ...ask('gemini'), stream: true }
    const response = await gateway.post('/v1/chat/completions', body)
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    const requestId = response.headers.get('x-request-id') ?? ''
    expect(await ledgerRow(requestId)).toMatchObject({
      pricing_status: 'legacy_estimated',
      prompt: 10,
      completion: 2,
    })
  })

  test('embeddings, whole and half failed', async () => {
    const whole = await send('/v1/embeddings', { model: 'embed', input: ['a', 'b'] })
    // 2000 × 0.15.
    expect(await ledgerRow(whole.requestId)).toMatchObject({ cost: '300000000', prompt: 2000 })
    const half = await send('/v1/embeddings', { model: 'embed', input: ['a', 'b', 'fail'] })
    expect(half.status).toBe(429)
    expect(await ledgerRow(half.requestId)).toMatchObject({ cost: '300000000', prompt: 2000 })
  })
})

describe('what a caller sees', () => {
  test.each([
    ['/v1/embeddings', { model: 'gemini', input: 'x' }],
    ['/v1/responses', { model: 'claude', input: 'x' }],
    ['/v1/embeddings', { model: 'embed', input: [1, 2] }],
    [
      '/v1/chat/completions',
      {
        model: 'claude',
        messages: [
          {
            role: 'user',
            content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,QQ' } }],
          },
        ],
      },
    ],
  ] as [string, JsonObject][])('%s %j is 400, and nothing is sent', async (path, body) => {
    const { status, text } = await send(path, body)
    expect([status, (JSON.parse(text) as { error: JsonObject }).error.code]).toEqual([
      400,
      'invalid_request',
    ])
    expect(cloud.calls).toEqual([])
  })

  test('an error in a stream is one error event, without [DONE], and what was counted is charged', async () => {
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 }
    const events = [
      { candidates: [{ content: { parts: [{ text: 'a' }] } }], usageMetadata },
      { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } },
    ]
    cloud.answer = () =>
      eventStream(events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join(''))
    const { text, requestId } = await send('/v1/chat/completions', {
      ...ask('gemini'),
      stream: true,
    })
    const last = text.trim().split('\n\n').at(-1) ?? ''
    expect(JSON.parse(last.slice('data: '.length))).toEqual({
      error: {
        message: 'The model is overloaded.',
        type: 'upstream_error',
        code: 'UNAVAILABLE',
        gateway_code: 'upstream_transport',
        param: null,
        request_id: requestId,
      },
    })
    expect(text).not.toContain('[DONE]')
    expect(await ledgerRow(requestId)).toMatchObject({ prompt: 10, completion: 2 })
  })

  test('a stream that breaks off is an error chunk, too', async () => {
    const text = files.get(`${google}-text.sse`) ?? ''
    cloud.answer = () => eventStream(text.slice(0, -40))
    const reply = await send('/v1/chat/completions', { ...ask('gemini'), stream: true })
    expect(reply.text).toContain('"code":"upstream_transport"')
    expect(reply.text).not.toContain('[DONE]')
  })
})
