/** What goes out to AI Studio, as the upstream's journal saw it, and what comes back of it. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { type JsonObject, Secret } from 'model-gateway/plugin'
import type { RouteSpec } from 'model-gateway/provider'
import {
  bytes,
  collectEvents,
  type JournalCall,
  json,
  providerCall,
  setUpProvider,
  sse,
  startUpstream,
} from 'model-gateway/testing'
import plugin from './index.ts'

const upstream = await startUpstream()
const origin = new URL(upstream.url).origin
const folder = `${import.meta.dir}/../_shared/__fixtures__`
const reply = await Bun.file(`${folder}/google-tools.json`).text()
const frames = (await Bun.file(`${folder}/google-tools.sse`).text()).split(/(?<=\n\r?\n)/)
beforeEach(() => {
  upstream.clear()
  upstream.always((x) =>
    (x.call.path.includes('alt=sse') ? sse(frames) : bytes(reply, 'application/json'))(x),
  )
})
afterAll(upstream.stop)

interface Ask {
  readonly dialect?: string
  readonly config?: object
  readonly route?: Partial<RouteSpec>
}

async function ask(body: JsonObject, { dialect = 'google', config, route }: Ask = {}) {
  const setUp = { base_url: origin, api_key: new Secret('AIza-1'), ...config }
  const bench = await setUpProvider({ plugin, type: 'gemini', config: setUp })
  const bound = bench.bind({ upstreamModel: 'gemini-3.5-flash', ...route })
  const call = providerCall({ model: 'asked', ...body })
  const outcome = await bound.execute[dialect]?.(call).catch((error) => error)
  const events = outcome?.kind === 'stream' ? await collectEvents(outcome) : []
  await bench.dispose()
  const sent = upstream.journal.calls.at(-1) as JournalCall
  const { leftOut } = call
  return { sent, body: sent?.body as JsonObject, outcome, events, leftOut, pricing: bound.pricing }
}

const contents = [
  { role: 'user', parts: [{ text: 'Weather?' }] },
  { role: 'model', parts: [{ functionCall: { id: 'fc-1', name: 'weather', args: {} } }] },
  {
    role: 'user',
    parts: [{ functionResponse: { id: 'fc-1', name: 'weather', response: { sky: 'clear' } } }],
  },
]

describe('generateContent', () => {
  test('is passed on unchanged, with the model in the path, and so is the reply', async () => {
    const body = { contents, unheard_of: { 'odd key': [1.5e3] } }
    const { sent, outcome, pricing } = await ask({ stream: false, ...body })
    expect(sent.path).toBe('/v1beta/models/gemini-3.5-flash:generateContent')
    expect(sent.headers['x-goog-api-key']).toBe('AIza-1')
    expect(sent.rawBody).toBe(JSON.stringify(body))
    expect(outcome).toMatchObject({ kind: 'buffered', rawBody: reply, billingModifiers: [] })
    expect(pricing).toEqual({ pricingProviderId: 'google-vertex', model: 'gemini-3.5-flash' })
  })

  test('streams its responses unchanged', async () => {
    const { sent, events } = await ask({ stream: true, contents })
    expect(sent.path).toBe('/v1beta/models/gemini-3.5-flash:streamGenerateContent?alt=sse')
    expect(sent.rawBody).toBe(JSON.stringify({ contents }))
    expect(events.map(({ data }) => `data: ${data}`)).toEqual(frames.map((frame) => frame.trim()))
  })

  test('has no labels, may have a tier, and has the route’s additions', async () => {
    const route = { extraBody: { generationConfig: { topK: 3 } } }
    const asked = { contents, labels: { team: 'a' }, serviceTier: 'flex' }
    const { body, outcome, leftOut } = await ask(
      { ...asked, generationConfig: { seed: 1 } },
      { route },
    )
    expect(body).toEqual({
      contents,
      serviceTier: 'flex',
      generationConfig: { seed: 1, topK: 3 },
    })
    expect(leftOut).toEqual(['labels'])
    expect(outcome.billingModifiers).toEqual(['service_tier'])
  })
})

test.each([
  ['models/gemini-2.5-pro', '', '/v1beta/models/gemini-2.5-pro', 'gemini-2.5-pro'],
  ['gemini-2.5-pro', '/v1/', '/v1/models/gemini-2.5-pro', 'gemini-2.5-pro'],
  ['tunedModels/my-model', '/studio', '/studio/v1beta/tunedModels/my-model', 'my-model'],
])('%s at a base URL with the path "%s"', async (upstreamModel, path, expected, model) => {
  const config = { base_url: `${origin}${path}` }
  const { sent, pricing } = await ask({ contents }, { config, route: { upstreamModel } })
  expect(sent.path).toBe(`${expected}:generateContent`)
  expect(pricing.model).toBe(model)
})

test('chat matches calls by id, keeps signatures, and accepts uploaded files', async () => {
  // https://ai.google.dev/api/files
  const file_data = 'https://generativelanguage.googleapis.com/v1beta/files/abc-123'
  const call = { id: 'fc-1', type: 'function', function: { name: 'weather', arguments: '{}' } }
  const { body, outcome, leftOut } = await ask(
    {
      messages: [
        { role: 'user', content: [{ type: 'file', file: { file_data } }] },
        {
          role: 'assistant',
          tool_calls: [{ ...call, extra_content: { google: { thought_signature: 'c2ln' } } }],
        },
        { role: 'tool', tool_call_id: 'fc-1', content: '{"sky":"clear"}' },
      ],
      labels: { team: 'a' },
    },
    { dialect: 'chat_completions' },
  )
  expect(body).toEqual({
    contents: [
      { role: 'user', parts: [{ fileData: { fileUri: file_data } }] },
      {
        role: 'model',
        parts: [
          { functionCall: { name: 'weather', id: 'fc-1', args: {} }, thoughtSignature: 'c2ln' },
        ],
      },
      contents[2] as JsonObject,
    ],
  })
  expect(leftOut).toEqual(['labels'])
  const { message } = outcome.body.choices[0]
  expect(Object.keys(message.provider_metadata)).toEqual(['gemini'])
  expect(message.tool_calls[1].id).toBe('fc-8Zx')
})

test('embeddings are sent in batches of 100, and counted if the model counts', async () => {
  const sizes: number[] = []
  upstream.always((x) => {
    const { requests } = x.call.body as { requests: unknown[] }
    sizes.push(requests.length)
    const embeddings = requests.map(() => ({ values: [0.25, -0.5] }))
    return json({ embeddings, usageMetadata: { promptTokenCount: requests.length } })(x)
  })
  const route = { upstreamModel: 'gemini-embedding-001' }
  const input = Array.from({ length: 101 }, (_, i) => `text ${i}`)
  const asked = { input, dimensions: 2, task_type: 'query', encoding_format: 'base64' }
  const { sent, body, outcome } = await ask(asked, { dialect: 'embeddings', route })
  expect(sent.path).toBe('/v1beta/models/gemini-embedding-001:batchEmbedContents')
  expect(sizes.sort()).toEqual([1, 100])
  expect((body.requests as JsonObject[])[0]).toMatchObject({
    model: 'models/gemini-embedding-001',
    taskType: 'RETRIEVAL_QUERY',
    outputDimensionality: 2,
  })
  expect(outcome.body.data).toHaveLength(101)
  expect(outcome.body.data[100]).toEqual({
    ...{ object: 'embedding', index: 100 },
    embedding: Buffer.from(new Float32Array([0.25, -0.5]).buffer).toString('base64'),
  })
  expect(outcome.body.usage).toEqual({ prompt_tokens: 101, total_tokens: 101 })
  upstream.always(json({ embeddings: [{ values: [1] }] }))
  const uncounted = await ask({ input: 'x' }, { dialect: 'embeddings', route })
  expect(uncounted.outcome.body).not.toHaveProperty('usage')
})

test('tokens of a messages request are counted by countTokens', async () => {
  // https://ai.google.dev/api/tokens
  upstream.always(json({ totalTokens: 31, promptTokensDetails: [] }))
  const source = { type: 'base64', media_type: 'image/png', data: 'AA==' }
  const { sent, body, outcome } = await ask(
    {
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [
        { role: 'user', content: [{ type: 'image', source }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'tool_use', id: 't1', name: 'weather', input: { city: 'Oslo' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'clear' }] },
            { type: 'search_result', title: 'x' },
          ],
        },
      ],
      tools: [{ name: 'weather', input_schema: { type: 'object' } }],
    },
    { dialect: 'messages.count_tokens', route: { upstreamModel: 'gemini-2.5-flash' } },
  )
  expect(sent.path).toBe('/v1beta/models/gemini-2.5-flash:countTokens')
  const call = { name: 'weather', id: 't1' }
  expect(body).toEqual({
    generateContentRequest: {
      model: 'models/gemini-2.5-flash',
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }] },
        { role: 'model', parts: [{ functionCall: { ...call, args: { city: 'Oslo' } } }] },
        {
          role: 'user',
          parts: [{ functionResponse: { ...call, response: { output: 'clear' } } }],
        },
        { role: 'user', parts: [{ text: '{"type":"search_result","title":"x"}' }] },
      ],
      tools: [
        { functionDeclarations: [{ name: 'weather', parametersJsonSchema: { type: 'object' } }] },
      ],
    },
  })
  expect(outcome).toEqual({ kind: 'buffered', body: { input_tokens: 31 } })
})

test('a wrong key is not a caller error', async () => {
  // As recorded in google/timesketch#3703.
  const reason = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: 'API_KEY_INVALID',
    domain: 'googleapis.com',
    metadata: { service: 'generativelanguage.googleapis.com' },
  }
  const message = 'API key not valid. Please pass a valid API key.'
  const error = { code: 400, message, status: 'INVALID_ARGUMENT', details: [reason] }
  upstream.always(json({ error }, 400))
  const { outcome } = await ask({ contents })
  expect(outcome).toMatchObject({ status: 502, message, details: { upstream_status: 401 } })
})
