import { expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { collectChat } from 'model-gateway/wire'
import { converseUsage, eventFrame } from '../../test/harness/upstream-clouds-aws.ts'
import { decodeEventStream } from '../_shared/event-stream.ts'
import { foldChat } from '../_shared/fold-chat.fixture.ts'
import { createToolNames, NAMES_OF_64 } from '../_shared/tool-names.ts'
import { chatFromUnified } from './unified-reply.ts'
import { chatChunksFromUnified } from './unified-stream.ts'

const call = { surface: 'chat_completions', body: { model: 'asked' }, requestId: 'r-1' }
const facts = { id: 'chatcmpl-1', model: 'up', names: createToolNames(NAMES_OF_64) }

function buffered(content: JsonValue[], stopReason = 'end_turn') {
  const reply = { output: { message: { content } }, stopReason, usage: converseUsage }
  const [choice] = chatFromUnified(reply, call, facts).choices as JsonObject[]
  return choice
}

async function chunksOf(events: readonly (readonly [type: string, payload: JsonObject])[]) {
  async function* source() {
    for (const [type, payload] of events) yield eventFrame(type, payload)
  }
  const frames = decodeEventStream(source(), () => {})
  const seams = { unknownEvent() {}, redact: (text: string) => text }
  const chunks = []
  for await (const batch of chatChunksFromUnified(frames, call, facts, seams)) {
    chunks.push(...batch)
  }
  return chunks
}

/** The one choice that a stream amounts to. */
async function streamed(events: Parameters<typeof chunksOf>[0]) {
  const [choice] = collectChat(await chunksOf(events)).choices as JsonObject[]
  return choice
}

test('a text with citations is part of the content, and its citations are kept', () => {
  const cited = {
    content: [{ text: 'It is ' }, { text: 'tall.' }],
    citations: [{ title: 'Towers', location: { documentPage: { documentIndex: 0, start: 1 } } }],
  }
  const choice = buffered([
    { text: 'Look: ' },
    { citationsContent: cited },
    { citationsContent: { citations: [] } },
    { text: ' Indeed.' },
  ])
  expect(choice?.message).toEqual({
    role: 'assistant',
    content: 'Look: It is tall. Indeed.',
    provider_metadata: { cloud_b_ml: { citations: cited.citations } },
  })
})

const search = { toolUseId: 's1', name: 'nova_grounding', type: 'server_tool_use' }
const weather = { toolUseId: 't1', name: 'weather' }

test('a hosted tool is not a call of the caller’s', () => {
  const found = { toolUseId: 's1', type: 'nova_grounding_result', content: [{ json: { a: 1 } }] }
  const choice = buffered(
    [
      { toolUse: { ...search, input: { query: 'Oslo' } } },
      { toolResult: found },
      { text: 'Rain.' },
      { toolUse: { ...weather, input: { city: 'Oslo' } } },
    ],
    'tool_use',
  )
  const definition = { name: 'weather', arguments: '{"city":"Oslo"}' }
  expect(choice?.message).toEqual({
    role: 'assistant',
    content: 'Rain.',
    tool_calls: [{ id: 't1', type: 'function', function: definition }],
  })
})

test('nor in a stream, where the remaining calls count from 0', async () => {
  const input = (contentBlockIndex: number, text: string) =>
    ['contentBlockDelta', { contentBlockIndex, delta: { toolUse: { input: text } } }] as const
  const chunks = await chunksOf([
    ['messageStart', { role: 'assistant' }],
    ['contentBlockStart', { contentBlockIndex: 0, start: { toolUse: search } }],
    input(0, '{"query":"Oslo"}'),
    ['contentBlockStop', { contentBlockIndex: 0 }],
    ['contentBlockStart', { contentBlockIndex: 1, start: { toolResult: { toolUseId: 's1' } } }],
    ['contentBlockDelta', { contentBlockIndex: 1, delta: { toolResult: [{ text: 'x' }] } }],
    ['contentBlockStop', { contentBlockIndex: 1 }],
    ['contentBlockStart', { contentBlockIndex: 2, start: { toolUse: weather } }],
    input(2, '{"city":"Oslo"}'),
    ['contentBlockStop', { contentBlockIndex: 2 }],
    ['messageStop', { stopReason: 'tool_use' }],
  ])
  const definition = { name: 'weather', arguments: '{"city":"Oslo"}' }
  expect(foldChat(chunks).toolCalls).toEqual([{ id: 't1', type: 'function', function: definition }])
})

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_GuardrailTraceAssessment.html */
const trace = {
  guardrail: {
    inputAssessment: {
      gr1: { topicPolicy: { topics: [{ name: 'Coffee', type: 'DENY', action: 'BLOCKED' }] } },
    },
    actionReason: 'Guardrail blocked.',
  },
}
const png = Buffer.from('not really a picture')
const url = `data:image/png;base64,${png.toString('base64')}`
const remote = { image: { format: 'png', source: { s3Location: { uri: 's3://b/k' } } } }
const document = { document: { format: 'pdf', name: 'Report', source: { bytes: 'cGRm' } } }

test('why a guardrail intervened, and how the call was served', () => {
  const more = { trace, performanceConfig: { latency: 'optimized' }, serviceTier: { type: 'flex' } }
  const reply = {
    output: { message: { content: [{ text: 'No.' }] } },
    stopReason: 'guardrail_intervened',
    usage: converseUsage,
    ...more,
  }
  expect(chatFromUnified(reply, call, facts).choices).toMatchObject([
    {
      finish_reason: 'content_filter',
      message: {
        content: 'No.',
        provider_metadata: {
          cloud_b_ml: {
            stop_reason: 'guardrail_intervened',
            trace,
            performance_config: { latency: 'optimized' },
            service_tier: { type: 'flex' },
          },
        },
      },
    },
  ])
})

test('the same in a stream, whose last event follows the finish', async () => {
  const choice = await streamed([
    ['messageStart', { role: 'assistant' }],
    ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'No.' } }],
    ['messageStop', { stopReason: 'guardrail_intervened' }],
    ['metadata', { usage: converseUsage, metrics: { latencyMs: 5 }, trace }],
  ])
  expect(choice).toMatchObject({
    finish_reason: 'content_filter',
    message: {
      content: 'No.',
      provider_metadata: { cloud_b_ml: { stop_reason: 'guardrail_intervened', trace } },
    },
  })
})

test('images are next to the content; other blocks are kept', () => {
  const image = { format: 'png', source: { bytes: png.toString('base64') } }
  const unknown = { hologram: { depth: 3 } }
  const choice = buffered([{ text: 'Look.' }, { image }, remote, document, unknown])
  expect(choice?.message).toEqual({
    role: 'assistant',
    content: 'Look.',
    images: [{ type: 'image_url', image_url: { url } }],
    provider_metadata: { cloud_b_ml: { content: [remote, document, unknown] } },
  })
})

test('the same in a stream', async () => {
  const delta = (contentBlockIndex: number, value: JsonObject) =>
    ['contentBlockDelta', { contentBlockIndex, delta: value }] as const
  const piece = (bytes: Buffer) =>
    delta(1, { image: { source: { bytes: bytes.toString('base64') } } })
  const citation = { title: 'Towers', location: { web: { url: 'https://x.test' } } }
  const error = { image: { error: { message: 'No picture.' } } }
  const choice = await streamed([
    ['messageStart', { role: 'assistant' }],
    ['pulse', { a: 1 }],
    delta(0, { text: 'Look.' }),
    delta(0, { citation }),
    ['contentBlockStop', { contentBlockIndex: 0 }],
    ['contentBlockStart', { contentBlockIndex: 1, start: { image: { format: 'png' } } }],
    piece(png.subarray(0, 4)),
    piece(png.subarray(4)),
    ['contentBlockStop', { contentBlockIndex: 1 }],
    ['contentBlockStart', { contentBlockIndex: 2, start: { hologram: {} } }],
    delta(2, { hologram: { depth: 3 } }),
    delta(2, {}),
    delta(3, error),
    ['contentBlockDelta', { contentBlockIndex: 4 }],
    ['messageStop', { stopReason: 'end_turn' }],
  ])
  expect(choice?.message).toEqual({
    role: 'assistant',
    content: 'Look.',
    images: [{ type: 'image_url', image_url: { url } }],
    provider_metadata: {
      cloud_b_ml: { citations: [citation], content: [{ hologram: { depth: 3 } }, error] },
    },
  })
})
