import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import type { StreamEvent } from 'model-gateway/wire'
import {
  converseFrames,
  converseUsage,
  eventFrame,
  exceptionFrame,
  frame,
} from '../../test/harness/upstream-clouds-aws.ts'
import { decodeEventStream } from '../_shared/event-stream.ts'
import { createRedact, type Redact } from '../_shared/redact.ts'
import { createToolNames, NAMES_OF_64 } from '../_shared/tool-names.ts'
import { chatChunksFromUnified } from './unified-stream.ts'

const call = { surface: 'chat_completions', body: { model: 'asked' }, requestId: 'r-1' }

/** Everything that came before the end, and what the end was. */
async function run(frames: readonly Uint8Array[], redact: Redact = (text) => text) {
  async function* source() {
    yield* frames
  }
  const counted: string[] = []
  const events: StreamEvent[] = []
  let error: unknown
  const stream = chatChunksFromUnified(
    decodeEventStream(source(), () => counted.push('crc_mismatch')),
    call,
    { id: 'chatcmpl-1', model: 'up', names: createToolNames(NAMES_OF_64) },
    { unknownEvent: () => counted.push('unknown_event'), redact },
  )
  try {
    for await (const batch of stream) events.push(...batch)
  } catch (thrown) {
    error = thrown
  }
  const data = events.map((event) => (event.data === '[DONE]' ? '[DONE]' : event.json()))
  return { data, error, counted }
}

const choicesOf = (data: readonly JsonValue[]) =>
  data.map((chunk) => {
    const [choice] = (chunk as JsonObject).choices as JsonObject[]
    return choice && { delta: choice.delta, finish_reason: choice.finish_reason }
  })

const start = eventFrame('messageStart', { role: 'assistant', p: 'abc' })
const text = eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'hi' } })
const stop = eventFrame('messageStop', { stopReason: 'end_turn' })
const usage = eventFrame('metadata', { usage: converseUsage, metrics: { latencyMs: 5 } })

test('the chunks of a reply', async () => {
  const { data, error, counted } = await run(
    converseFrames({
      blocks: [
        { kind: 'text', pieces: ['Let me ', 'look.'] },
        { kind: 'tool', id: 't1', name: 'weather', pieces: ['{"city":', '"Oslo"}'] },
        { kind: 'tool', id: 't2', name: 'now', pieces: [] },
      ],
      stopReason: 'tool_use',
      usage: {
        ...converseUsage,
        cacheReadInputTokens: 8,
        cacheWriteInputTokens: 4,
        totalTokens: 53,
      },
    }),
  )
  expect([error, counted]).toEqual([undefined, []])
  expect(data.at(-1)).toBe('[DONE]')
  const tool = (index: number, call: JsonObject) => ({ tool_calls: [{ index, ...call }] })
  const delta = (value: JsonObject, finish_reason: string | null = null) => ({
    delta: value,
    finish_reason,
  })
  expect(choicesOf(data.slice(0, -1))).toEqual([
    delta({ role: 'assistant', content: '' }),
    delta({ content: 'Let me ' }),
    delta({ content: 'look.' }),
    delta(tool(0, { id: 't1', type: 'function', function: { name: 'weather', arguments: '' } })),
    delta(tool(0, { function: { arguments: '{"city":' } })),
    delta(tool(0, { function: { arguments: '"Oslo"}' } })),
    delta(tool(1, { id: 't2', type: 'function', function: { name: 'now', arguments: '' } })),
    delta(tool(1, { function: { arguments: '{}' } })),
    delta({}, 'tool_calls'),
    undefined,
  ] as never)
  expect(data[0]).toMatchObject({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    model: 'asked',
    provider_model: 'up',
  })
  expect(data.at(-2)).toMatchObject({
    choices: [],
    usage: {
      prompt_tokens: 36,
      completion_tokens: 17,
      total_tokens: 53,
      prompt_tokens_details: { cached_tokens: 8, cache_write_tokens: 4 },
      provider_usage: { inputTokens: 24 },
    },
  })
})

/** As in a fixture of vercel/ai: amazon-bedrock-tool-no-args.chunks.txt. */
test('usage before the end, an empty start and an empty piece of arguments', async () => {
  const at = (contentBlockIndex: number, more: JsonObject) => ({ contentBlockIndex, ...more })
  const { data, error } = await run([
    start,
    eventFrame('contentBlockStart', at(0, { start: {} })),
    text,
    eventFrame('contentBlockStop', at(0, {})),
    eventFrame(
      'contentBlockStart',
      at(1, { start: { toolUse: { toolUseId: 't1', name: 'update' } } }),
    ),
    eventFrame('contentBlockDelta', at(1, { delta: { toolUse: { input: '' } } })),
    eventFrame('contentBlockStop', at(1, {})),
    usage,
    eventFrame('messageStop', { stopReason: 'tool_use' }),
  ])
  expect(error).toBeUndefined()
  const choices = choicesOf(data.slice(0, -1)) as ({ delta: JsonObject } | undefined)[]
  expect(choices.map((choice) => choice?.delta)).toMatchObject([
    { role: 'assistant' },
    { content: 'hi' },
    { tool_calls: [{ function: { name: 'update', arguments: '' } }] },
    { tool_calls: [{ function: { arguments: '{}' } }] },
    undefined,
    {},
  ] as never)
})

test('reasoning stays out of the content', async () => {
  const delta = (reasoningContent: JsonObject) =>
    eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent } })
  const { data } = await run([
    start,
    delta({ text: 'hm' }),
    delta({ signature: 'c2ln' }),
    delta({ redactedContent: 'eA==' }),
    stop,
  ])
  const blocks = [
    { type: 'reasoning_text', text: 'hm' },
    { type: 'reasoning_signature', signature: 'c2ln' },
    { type: 'redacted_reasoning', data: 'eA==' },
  ]
  expect(choicesOf(data.slice(1, 4)).map((choice) => choice?.delta)).toEqual(
    blocks.map((block) => ({
      provider_metadata: {
        cloud_b_ml: { reasoning: { source: 'unified_stream', blocks: [block] } },
      },
    })),
  )
})

test('fields that the caller asked the model for come before the finish', async () => {
  const fields = { additionalModelResponseFields: { stop: 'x' } }
  const { data } = await run([
    start,
    eventFrame('messageStop', { stopReason: 'end_turn', ...fields }),
  ])
  expect(choicesOf(data.slice(1, 3)).map((choice) => choice?.delta)).toEqual([
    { provider_metadata: { cloud_b_ml: { additional_model_response_fields: { stop: 'x' } } } },
    {},
  ])
})

describe('an error in the stream ends it', () => {
  test.each([
    ...[
      'internalServerException',
      'modelStreamErrorException',
      'validationException',
      'throttlingException',
      'serviceUnavailableException',
    ].map((type) => [type, exceptionFrame(type, { message: 'too much' })] as const),
    ['throttlingException', exceptionFrame('throttlingException', { Message: 'too much' })],
    [
      'InternalError',
      frame(
        { ':message-type': 'error', ':error-code': 'InternalError', ':error-message': 'too much' },
        '',
      ),
    ],
  ] as const)('%s', async (code, failure) => {
    const { data, error } = await run([start, text, failure, stop, usage])
    expect(error).toBeUndefined()
    expect(data).toHaveLength(3)
    expect(data.at(-1)).toEqual({
      error: {
        message: 'too much',
        type: 'upstream_error',
        gateway_code: 'upstream_transport',
        code,
        param: null,
        request_id: 'r-1',
      },
    })
  })

  test('one without a message has its type', async () => {
    const { data } = await run([frame({ ':message-type': 'exception' }, 'oops')])
    expect(data).toMatchObject([
      {
        error: {
          code: 'upstream_transport',
          message: 'the upstream reported an error in its stream',
        },
      },
    ])
  })
})

describe('a text in any JSON form', () => {
  const payloads = (literal: string) => [
    `{"contentBlockIndex":0,"delta":{"text":${literal}}}`,
    `{"contentBlockIndex":0,"delta":{"text":${literal}},"p":"abcDEF019"}`,
    `{"p":"abc","delta":{"text":${literal}},"contentBlockIndex":12}`,
    `{ "contentBlockIndex": 0, "delta": { "text": ${literal} } }`,
    `{"contentBlockIndex":0,"delta":{"text":${literal},"other":1},"p":"a"}`,
  ]
  const textOf = async (payload: string) => {
    const { data, error } = await run([start, eventFrame('contentBlockDelta', payload), stop])
    const [, piece] = data.slice(0, -2)
    return error ?? (piece === undefined ? '' : choicesOf([piece])[0]?.delta)
  }

  test.each([
    '"plain"',
    '" größer — 海 🌊"',
    '"\\"quoted\\" \\\\ back \\/ slash"',
    '"\\n\\t\\u00e9\\ud83c\\udf0a"',
    '"\u2028 and \u007f"',
    '"},\\"p\\":\\"x\\"}"',
  ])('%s', async (literal) => {
    const content = JSON.parse(literal) as string
    for (const payload of payloads(literal)) expect(await textOf(payload)).toEqual({ content })
  })

  test('a very long one is fast', async () => {
    const content = 'größer\n'.repeat(150_000)
    const startedAt = performance.now()
    for (const payload of payloads(JSON.stringify(content)).slice(0, 2)) {
      expect(await textOf(payload)).toEqual({ content })
    }
    expect(performance.now() - startedAt).toBeLessThan(500)
  })

  test('an empty one is not a chunk', async () => {
    for (const payload of payloads('""')) expect(await textOf(payload)).toBe('')
  })

  test.each(['"\u0001"', '"\\q"', '"\\u00g0"', '"open', '"a""b"'])(
    '%j is not JSON',
    async (literal) => {
      for (const payload of payloads(literal)) {
        expect(await textOf(payload)).toMatchObject({ code: 'upstream_transport' })
      }
    },
  )

  test('bytes that are not UTF-8 are malformed', async () => {
    const broken = eventFrame('contentBlockDelta', payloads('"ab"')[0] ?? '')
    broken[broken.indexOf(0x62, broken.length - 10)] = 0xff
    const { data, error } = await run([start, broken, stop])
    expect(error).toMatchObject({
      code: 'upstream_transport',
      message: expect.stringContaining('UTF-8'),
    })
    expect(data).toHaveLength(1)
  })
})

describe('undocumented content', () => {
  test.each<[string, Uint8Array[], string]>([
    ['no frame', [], 'empty stream'],
    ['no messageStop', [start, text], 'premature end'],
    ['counters without messageStop', [start, text, usage], 'premature end'],
    ['no event type', [start, frame({ ':message-type': 'event' }, '{}')], ':event-type'],
    ['no payload', [start, eventFrame('contentBlockDelta', '')], 'payload'],
    ['a payload that is not JSON', [start, eventFrame('contentBlockDelta', '{')], 'not JSON'],
    [
      'a payload that is not an object',
      [start, eventFrame('contentBlockDelta', '[]')],
      'JSON object',
    ],
    ['half a frame after the stop', [start, stop, usage.subarray(0, 20)], 'premature end'],
  ])('%s is an error, without [DONE]', async (_, frames, message) => {
    const { data, error } = await run(frames)
    expect(error).toMatchObject({
      code: 'upstream_transport',
      message: expect.stringContaining(message),
    })
    expect(data).not.toContain('[DONE]')
  })

  test('frames before a fault are passed on, also in the same chunk', async () => {
    const together = Buffer.concat([start, text, eventFrame('contentBlockDelta', '{')])
    const { data, error } = await run([together])
    expect(choicesOf(data).map((choice) => choice?.delta)).toEqual([
      { role: 'assistant', content: '' },
      { content: 'hi' },
    ])
    expect(error).toMatchObject({ code: 'upstream_transport' })
  })

  test('unknown events and wrong checksums are counted', async () => {
    const zeroed = Buffer.from(text)
    zeroed.writeUInt32BE(0, zeroed.length - 4)
    const unknown = [eventFrame('initial-response', ''), eventFrame('toString', {})]
    const { data, error, counted } = await run([...unknown, start, zeroed, stop])
    expect(error).toBeUndefined()
    expect(data.at(-1)).toBe('[DONE]')
    expect(counted.sort()).toEqual(['crc_mismatch', 'unknown_event', 'unknown_event'])
  })

  test('a stream without counters is complete', async () => {
    const { data } = await run([start, text, stop])
    expect(data.at(-1)).toBe('[DONE]')
  })
})

test('an exception that repeats the credentials does not pass them on', async () => {
  // Cut at its limit only after the credential is gone: no half of it stays.
  const message = `${'x'.repeat(2040)}odd-session-token`
  const { data } = await run(
    [exceptionFrame('throttlingException', { message })],
    createRedact(['odd-session-token']),
  )
  const { error } = data[0] as { error: { message: string } }
  expect(error.message).toStartWith('xxx')
  expect(error.message).not.toContain('odd')
})
