import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { adaKey, eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { paced, startUpstream, type Upstream } from '../../harness/upstream.ts'

const prices = {
  input_usd_per_million: '2.5',
  cache_read_usd_per_million: '0.25',
  output_usd_per_million: '10',
}
const picoUsd = { input: 2_500_000n, cacheRead: 250_000n, output: 10_000_000n }

const weather = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'The weather in a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    },
  },
}

let upstream: Upstream
let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startTestGateway({
    providers: [
      { id: 'sim', type: 'simulator', pricing_provider_id: 'test' },
      {
        id: 'up',
        type: 'generic_compat',
        base_url: upstream.url,
        auth: { mode: 'bearer', token: 'literal.upstream-secret' },
        pricing_provider_id: 'test',
      },
    ],
    models: [
      { id: 'sim-model', routes: [{ provider: 'sim', upstream_model: 'simulator-1' }] },
      {
        id: 'up-model',
        routes: [
          {
            provider: 'up',
            upstream_model: 'upstream-1',
            compatibility: { generic_compat: { supports_stream_usage: true } },
          },
        ],
      },
    ],
    pricing: {
      overrides: ['simulator-1', 'upstream-1'].map((model) => ({
        pricing_provider_id: 'test',
        model,
        ...prices,
      })),
    },
  })
  client = gateway.openai(adaKey)
})

afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})

interface LedgerRow {
  request_id: string
  pricing_status: string
  cost_pico_usd: string
  uncached_input_tokens: number
  cache_read_tokens: number | null
  completion_tokens: number
}

/** The one ledger row of a call, its cost checked against tokens × rate. */
async function ledgerRow(requestId: string): Promise<LedgerRow> {
  const rows = await gateway.sql<LedgerRow[]>`
    select request_id, pricing_status, cost_pico_usd::text, uncached_input_tokens::int,
      cache_read_tokens::int, completion_tokens::int
    from accounting.usage_cost_events where request_id = ${requestId}`
  expect(rows).toHaveLength(1)
  const row = rows[0] as LedgerRow
  expect(row.pricing_status).toBe('priced')
  expect(BigInt(row.cost_pico_usd)).toBe(
    BigInt(row.uncached_input_tokens ?? 0) * picoUsd.input +
      BigInt(row.cache_read_tokens ?? 0) * picoUsd.cacheRead +
      BigInt(row.completion_tokens ?? 0) * picoUsd.output,
  )
  return row
}

/** The one summary of a call and its one attempt. */
async function logged(requestId: string) {
  return await eventually(async () => {
    const rows = await gateway.sql`
      select r.*, a.status as attempt_status, a.provider_key as attempt_provider
      from request_log.request_logs r
      join request_log.request_log_attempts a
        on a.request_log_id = r.id and a.occurred_at = r.occurred_at
      where r.request_id = ${requestId}`
    if (rows.length === 0) return undefined
    expect(rows).toHaveLength(1)
    return rows[0]
  })
}

test('models.list shows the granted models', async () => {
  const models = await client.models.list()
  expect(models.data.map((m) => m.id)).toEqual(['sim-model', 'up-model'])
  expect(models.data[0]).toMatchObject({ object: 'model', owned_by: 'gateway' })
})

describe.each(['sim-model', 'up-model'])('the openai client with %s', (model) => {
  const messages = [{ role: 'user' as const, content: 'What is the weather in Paris?' }]

  test('chat, buffered', async () => {
    const { data, response } = await client.chat.completions
      .create({ model, messages })
      .withResponse()
    expect(data.model).toBe(model)
    expect(data.choices[0]?.message.content).toBeString()
    expect(data.choices[0]?.finish_reason).toBe('stop')
    const requestId = response.headers.get('x-request-id') as string
    const row = await ledgerRow(requestId)
    expect(row.completion_tokens).toBe(data.usage?.completion_tokens as number)
    expect(await logged(requestId)).toMatchObject({
      model_key: model,
      resolved_model_key: model,
      operation: 'chat_completions',
      status_code: 200,
      outcome: 'success',
      attempt_status: 'success',
      exposed_tool_count: 0,
      invoked_tool_count: 0,
      prompt_tokens: String(data.usage?.prompt_tokens),
    })
  })

  test('chat, streamed: the ledger row is there when the stream ends', async () => {
    const { data: stream, response } = await client.chat.completions
      .create({ model, messages, stream: true, stream_options: { include_usage: true } })
      .withResponse()
    let text = ''
    let usage: OpenAI.CompletionUsage | undefined
    for await (const chunk of stream) {
      expect(chunk.model).toBe(model)
      text += chunk.choices[0]?.delta.content ?? ''
      usage = chunk.usage ?? usage
    }
    expect(text.length).toBeGreaterThan(0)
    const requestId = response.headers.get('x-request-id') as string
    const row = await ledgerRow(requestId)
    expect(row.completion_tokens).toBe(usage?.completion_tokens as number)
    expect(await logged(requestId)).toMatchObject({ stream: true, outcome: 'success' })
  })

  test('chat with tools, buffered', async () => {
    const { data, response } = await client.chat.completions
      .create({ model, messages, tools: [weather], tool_choice: 'required' })
      .withResponse()
    const call = data.choices[0]?.message.tool_calls?.[0]
    expect(call).toMatchObject({ type: 'function', function: { name: 'get_weather' } })
    expect(call?.type === 'function' && JSON.parse(call.function.arguments)).toBeObject()
    expect(data.choices[0]?.finish_reason).toBe('tool_calls')
    const requestId = response.headers.get('x-request-id') as string
    await ledgerRow(requestId)
    expect(await logged(requestId)).toMatchObject({ exposed_tool_count: 1, invoked_tool_count: 1 })
  })

  test('chat with tools, streamed, through the stream helper', async () => {
    const runner = client.chat.completions.stream({
      model,
      messages,
      tools: [weather],
      tool_choice: 'required',
      stream_options: { include_usage: true },
    })
    const final = await runner.finalChatCompletion()
    const call = final.choices[0]?.message.tool_calls?.[0]
    expect(call).toMatchObject({ type: 'function', function: { name: 'get_weather' } })
    expect(call?.type === 'function' && JSON.parse(call.function.arguments)).toBeObject()
  })

  test('responses, buffered', async () => {
    const { data, response } = await client.responses
      .create({ model, input: 'Hello' })
      .withResponse()
    expect(data.model).toBe(model)
    expect(data.status).toBe('completed')
    expect(data.output_text.length).toBeGreaterThan(0)
    const requestId = response.headers.get('x-request-id') as string
    const row = await ledgerRow(requestId)
    expect(row.completion_tokens).toBe(data.usage?.output_tokens as number)
    expect(await logged(requestId)).toMatchObject({ operation: 'responses' })
  })

  test('responses, streamed with their event names', async () => {
    const { data: stream, response } = await client.responses
      .create({ model, input: 'Hello', stream: true })
      .withResponse()
    const types: string[] = []
    let text = ''
    for await (const event of stream) {
      types.push(event.type)
      if (event.type === 'response.output_text.delta') text += event.delta
      if (event.type === 'response.completed') {
        expect(event.response.model).toBe(model)
        expect(event.response.output_text || text).toBe(text)
      }
    }
    expect(types[0]).toBe('response.created')
    expect(types.at(-1)).toBe('response.completed')
    expect(types).toContain('response.output_text.delta')
    await ledgerRow(response.headers.get('x-request-id') as string)
  })

  test('embeddings', async () => {
    const { data, response } = await client.embeddings
      .create({ model, input: ['one', 'two'], encoding_format: 'float' })
      .withResponse()
    expect(data.data.map((item) => item.index)).toEqual([0, 1])
    expect(data.data[0]?.embedding[0]).toBeNumber()
    expect(data.model).toBe(model)
    const requestId = response.headers.get('x-request-id') as string
    await ledgerRow(requestId)
    expect(await logged(requestId)).toMatchObject({
      operation: 'embeddings',
      exposed_tool_count: null,
      invoked_tool_count: null,
    })
  })

  test('a caller that leaves a stream is logged as such', async () => {
    const requestId = `left-${model}`
    if (model === 'up-model') upstream.script(paced(50, 10))
    const stream = await client.chat.completions.create(
      { model, messages, stream: true },
      { headers: { 'x-request-id': requestId } },
    )
    for await (const _ of stream) break
    stream.controller.abort()
    if (model === 'sim-model') return
    expect(await logged(requestId)).toMatchObject({
      outcome: 'client_abort',
      attempt_status: 'client_abort',
    })
    // The upstream was read to its end, so the price is exact.
    await ledgerRow(requestId)
  })
})

test('errors arrive as the client expects them', async () => {
  const unknown = client.chat.completions.create({ model: 'nope', messages: [] })
  expect(await unknown.catch((e) => e)).toBeInstanceOf(OpenAI.BadRequestError)
  const missing = client.chat.completions.create({
    model: 'nope',
    messages: [{ role: 'user', content: 'x' }],
  })
  const error = await missing.catch((e) => e)
  expect(error).toBeInstanceOf(OpenAI.NotFoundError)
  expect(error.code).toBe('model_not_found')
  const stranger = gateway.openai('sk-foreign').models.list()
  expect(await stranger.catch((e) => e)).toBeInstanceOf(OpenAI.AuthenticationError)
})
