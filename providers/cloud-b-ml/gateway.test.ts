/** Through a whole gateway: the official client, the ledger, the errors a caller sees. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { json, type Reply, sse, startUpstream, type Upstream } from 'model-gateway/testing'
import {
  adaKey,
  eventually,
  startTestGateway,
  type TestGateway,
} from '../../test/harness/gateway.ts'
import { strictly } from '../../test/harness/strict-clouds.ts'
import {
  converseFrames,
  converseReply,
  exceptionFrame,
  framed,
} from '../../test/harness/upstream-clouds-aws.ts'
import {
  messagesFrames,
  messagesReply,
  messagesUsage,
  type Said,
} from '../../test/harness/upstream-clouds-messages.ts'

const said: Said = {
  blocks: [
    { kind: 'text', pieces: ['Let me ', 'look. ', 'größer — 海'] },
    { kind: 'tool', id: 'tooluse_1', name: 'weather', pieces: ['{"city":', '"Oslo"}'] },
  ],
  stopReason: 'tool_use',
  usage: {
    inputTokens: 100,
    outputTokens: 20,
    totalTokens: 150,
    cacheReadInputTokens: 10,
    cacheWriteInputTokens: 20,
  },
}
const native = { ...said, usage: messagesUsage }

const reply: Reply = (x) => {
  if (x.call.path.endsWith('/converse-stream')) return framed(converseFrames(said))(x)
  if (x.call.path.endsWith('/converse')) return json(converseReply(said))(x)
  return x.call.rawBody.includes('"stream":true')
    ? sse(messagesFrames(native))(x)
    : json(messagesReply(native))(x)
}

let upstream: Upstream
let gateway: TestGateway
beforeAll(async () => {
  upstream = await startUpstream()
  upstream.always(strictly(reply))
  const route = (upstream_model: string, api_style: string) => ({
    provider: 'bedrock',
    upstream_model,
    compatibility: { bedrock: { api_style } },
  })
  gateway = await startTestGateway({
    providers: [
      {
        id: 'bedrock',
        type: 'bedrock',
        region: 'us-east-1',
        endpoint_url: new URL(upstream.url).origin,
        auth: {
          mode: 'static',
          access_key_id: 'literal.AKIDEXAMPLE',
          secret_access_key: 'literal.secret',
        },
      },
    ],
    models: [
      { id: 'unified', routes: [route('global.anthropic.claude-opus-4-7', 'runtime_unified')] },
      {
        id: 'invoke',
        routes: [route('global.anthropic.claude-opus-4-7', 'runtime_native_invoke')],
      },
      { id: 'edge', routes: [route('anthropic.claude-opus-4-8', 'edge_native_messages')] },
    ],
  })
})
afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})

const ask = (model: string) => ({
  model,
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: 'Oslo?' }],
  tools: [
    { type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } },
  ],
})

describe('the official client', () => {
  test.each(['unified', 'invoke', 'edge'])('%s, buffered', async (model) => {
    const completion = await gateway.openai(adaKey).chat.completions.create(ask(model))
    expect(completion.model).toBe(model)
    const [choice] = completion.choices
    expect(choice?.message.content).toBe('Let me look. größer — 海')
    expect(choice?.message.tool_calls).toEqual([
      {
        id: 'tooluse_1',
        type: 'function',
        function: { name: 'weather', arguments: '{"city":"Oslo"}' },
      },
    ])
    expect(choice?.finish_reason).toBe('tool_calls')
  })

  test.each(['unified', 'edge'])('%s, streamed', async (model) => {
    const stream = gateway.openai(adaKey).chat.completions.stream(ask(model))
    const completion = await stream.finalChatCompletion()
    expect(completion.model).toBe(model)
    const [choice] = completion.choices
    expect(choice?.message.content).toBe('Let me look. größer — 海')
    expect(choice?.message.tool_calls?.[0]).toMatchObject({
      id: 'tooluse_1',
      function: { name: 'weather', arguments: '{"city":"Oslo"}' },
    })
    expect(choice?.finish_reason).toBe('tool_calls')
  })
})

describe('the official client of the messages API', () => {
  const client = () =>
    new Anthropic({ baseURL: gateway.url, apiKey: adaKey, maxRetries: 0, timeout: 60_000 })
  const asked = (model: string) => ({
    model,
    max_tokens: 100,
    messages: [{ role: 'user' as const, content: 'Oslo?' }],
    tools: [{ name: 'weather', input_schema: { type: 'object' as const } }],
  })
  const content = [
    { type: 'text', text: 'Let me look. größer — 海' },
    { type: 'tool_use', id: 'tooluse_1', name: 'weather', input: { city: 'Oslo' } },
  ]

  test.each(['unified', 'invoke', 'edge'])('%s, buffered', async (model) => {
    const message = await client().messages.create(asked(model))
    expect(message).toMatchObject({ model, stop_reason: 'tool_use', content })
  })

  test.each(['unified', 'edge'])('%s, streamed', async (model) => {
    const message = await client().messages.stream(asked(model)).finalMessage()
    expect(message).toMatchObject({ model, stop_reason: 'tool_use', content })
  })

  test('members of only the native API are sent', async () => {
    const cache_control = { type: 'ephemeral' as const }
    await client().messages.create({
      ...asked('edge'),
      system: [{ type: 'text', text: 'Be brief.', cache_control }],
      thinking: { type: 'disabled' },
      metadata: { user_id: 'u' },
    })
    expect(upstream.journal.calls.at(-1)?.body).toMatchObject({
      system: [{ type: 'text', text: 'Be brief.', cache_control }],
      thinking: { type: 'disabled' },
      metadata: { user_id: 'u' },
    })
  })
})

test('every bucket is priced, streamed or not', async () => {
  const costs = new Set<string>()
  for (const stream of [false, true]) {
    const response = await gateway.post('/v1/chat/completions', { ...ask('unified'), stream })
    await response.text()
    const requestId = response.headers.get('x-request-id') as string
    const [row] = await eventually(async () => {
      const rows = await gateway.sql`
        SELECT pricing_status, cost_pico_usd::text AS cost, prompt_tokens::int, completion_tokens::int
        FROM accounting.usage_cost_events WHERE request_id = ${requestId}`
      return rows.length > 0 ? rows : undefined
    })
    expect(row).toMatchObject({
      pricing_status: 'priced',
      prompt_tokens: 130,
      completion_tokens: 20,
    })
    costs.add(row?.cost)
  }
  // 100 × 5 + 20 × 25 + 10 × 0.5 + 20 × 6.25, in USD per million.
  expect([...costs]).toEqual([String(1_130_000_000)])
})

describe('what a caller sees', () => {
  test('an unsupported stream is 400, and nothing is sent', async () => {
    const before = upstream.journal.calls.length
    const response = await gateway.post('/v1/chat/completions', { ...ask('invoke'), stream: true })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_request' } })
    expect(upstream.journal.calls.length).toBe(before)
  })

  test('an exception in a stream is one error event, without [DONE]', async () => {
    const frames = converseFrames(said).slice(0, 3)
    upstream.script(
      framed([...frames, exceptionFrame('throttlingException', { message: 'Slow.' })]),
    )
    const response = await gateway.post('/v1/chat/completions', { ...ask('unified'), stream: true })
    const text = await response.text()
    const events = text.trim().split('\n\n')
    expect(JSON.parse(events.at(-1)?.slice('data: '.length) ?? '')).toMatchObject({
      error: {
        message: 'Slow.',
        type: 'upstream_error',
        code: 'throttlingException',
        request_id: response.headers.get('x-request-id'),
      },
    })
    expect(text.match(/"error"/g)).toHaveLength(1)
    expect(text).not.toContain('[DONE]')
  })
})
