import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { decodeSse, type StreamEvent } from 'model-gateway/wire'
import { chatChunksFromMessages } from './messages-stream.ts'
import { createToolNames, NAMES_OF_64 } from './tool-names.ts'

const call = { surface: 'chat_completions', body: { model: 'asked' }, requestId: 'r-1' }

function sse(events: readonly (JsonObject | string)[]): string {
  return events
    .map((event) => (typeof event === 'string' ? event : JSON.stringify(event)))
    .map((data) => `data: ${data}\r\n\r\n`)
    .join('')
}

async function run(events: readonly (JsonObject | string)[]) {
  async function* source() {
    yield Buffer.from(sse(events))
  }
  const chunks: StreamEvent[] = []
  let error: unknown
  try {
    const stream = chatChunksFromMessages(
      decodeSse(source()),
      call,
      'cloud_a_ml',
      createToolNames(NAMES_OF_64),
    )
    for await (const batch of stream) chunks.push(...batch)
  } catch (thrown) {
    error = thrown
  }
  return { data: chunks.map((c) => (c.data === '[DONE]' ? '[DONE]' : c.json())), error }
}

const deltas = (data: readonly JsonValue[]) =>
  data
    .filter((chunk) => chunk !== '[DONE]')
    .map((chunk) => {
      const [choice] = (chunk as JsonObject).choices as JsonObject[]
      return choice?.finish_reason ?? choice?.delta
    })

const start = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    model: 'claude-opus-4-8',
    usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 1 },
  },
}
const block = (index: number, content_block: JsonObject) => ({
  type: 'content_block_start',
  index,
  content_block,
})
const delta = (index: number, value: JsonObject) => ({
  type: 'content_block_delta',
  index,
  delta: value,
})
const closed = (index: number) => ({ type: 'content_block_stop', index })
const finish = (stop_reason: string | null, usage: JsonObject = { output_tokens: 7 }) => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  usage,
})
const stop = { type: 'message_stop' }

test('the chunks of a reply with tools', async () => {
  const { data, error } = await run([
    start,
    { type: 'ping' },
    block(0, { type: 'text', text: '' }),
    delta(0, { type: 'text_delta', text: 'Hi' }),
    closed(0),
    block(1, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
    delta(1, { type: 'input_json_delta', partial_json: '{"q":1}' }),
    closed(1),
    block(2, { type: 'tool_use', id: 't1', name: 'f', input: {} }),
    delta(2, { type: 'input_json_delta', partial_json: '' }),
    delta(2, { type: 'input_json_delta', partial_json: '{"a":' }),
    { type: 'ping' },
    delta(2, { type: 'input_json_delta', partial_json: '1}' }),
    closed(2),
    block(4, { type: 'tool_use', id: 't2', name: 'g', input: {} }),
    closed(4),
    block(5, { type: 'tool_use', id: 't3', name: 'h', input: { whole: true } }),
    closed(5),
    finish('tool_use'),
    stop,
  ])
  expect(error).toBeUndefined()
  const tool = (index: number, more: JsonObject) => ({ tool_calls: [{ index, ...more }] })
  const begun = (index: number, id: string, name: string) =>
    tool(index, { id, type: 'function', function: { name, arguments: '' } })
  const fragment = (index: number, text: string) => tool(index, { function: { arguments: text } })
  expect(deltas(data)).toEqual([
    { role: 'assistant', content: '' },
    { content: 'Hi' },
    begun(0, 't1', 'f'),
    fragment(0, '{"a":'),
    fragment(0, '1}'),
    begun(1, 't2', 'g'),
    fragment(1, '{}'),
    begun(2, 't3', 'h'),
    fragment(2, '{"whole":true}'),
    'tool_calls',
  ])
  expect(data.at(-1)).toBe('[DONE]')
  expect(data[0]).toMatchObject({ id: 'msg_1', model: 'asked', provider_model: 'claude-opus-4-8' })
})

test('usage comes with the start, and grows with the end', async () => {
  const { data } = await run([
    start,
    finish('end_turn', {
      input_tokens: 12,
      output_tokens: 9,
      cache_read_input_tokens: 0,
      output_tokens_details: { thinking_tokens: 4 },
      service_tier: 'priority',
    }),
    stop,
  ])
  expect(data[0]).toMatchObject({
    usage: { prompt_tokens: 15, completion_tokens: 1, total_tokens: 16 },
  })
  expect(data[1]).toMatchObject({
    usage: {
      prompt_tokens: 17,
      completion_tokens: 9,
      total_tokens: 26,
      prompt_tokens_details: { cached_tokens: 5 },
      completion_tokens_details: { reasoning_tokens: 4 },
      service_tier: 'priority',
      provider_usage: { input_tokens: 12, output_tokens: 9, cache_read_input_tokens: 5 },
    },
  })
})

test('usage after the finish is passed on', async () => {
  const { data } = await run([
    start,
    finish('end_turn'),
    finish('end_turn', { output_tokens: 8 }),
    stop,
  ])
  expect(data.at(-2)).toMatchObject({ choices: [], usage: { completion_tokens: 8 } })
})

test('reasoning stays out of the content', async () => {
  const { data } = await run([
    start,
    block(0, { type: 'thinking', thinking: '', signature: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'hm' }),
    delta(0, { type: 'signature_delta', signature: 'c2ln' }),
    closed(0),
    block(1, { type: 'redacted_thinking', data: 'eA==' }),
    closed(1),
    finish('end_turn'),
    stop,
  ])
  const blocks = [
    { type: 'thinking_delta', thinking: 'hm' },
    { type: 'signature_delta', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'eA==' },
  ]
  expect(deltas(data).slice(1, 4)).toEqual(
    blocks.map((reasoning) => ({
      provider_metadata: {
        cloud_a_ml: { reasoning: { source: 'anthropic_messages_stream', blocks: [reasoning] } },
      },
    })),
  )
})

test('unknown events are ignored, a second start too', async () => {
  const { data, error } = await run([
    start,
    start,
    { type: 'from_the_future' },
    block(0, { type: 'text', text: 'a' }),
    delta(0, { type: 'citations_delta', citation: {} }),
    closed(0),
    { type: 'message_delta', delta: {}, usage: null },
    stop,
    delta(0, { type: 'text_delta', text: 'after the end' }),
  ])
  expect(error).toBeUndefined()
  expect(deltas(data)).toEqual([{ role: 'assistant', content: '' }, { content: 'a' }, 'stop'])
  expect(data.at(-1)).toBe('[DONE]')
})

test('the stop reason ends the choice', async () => {
  expect(deltas((await run([start, finish('max_tokens'), stop])).data)).toContain('length')
})

describe('a stream that fails', () => {
  test.each<[JsonObject, string, string]>([
    [
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      'overloaded_error',
      'Overloaded',
    ],
    [{ error: { message: 'odd' } }, 'upstream_transport', 'odd'],
    [{ type: 'error', error: 'Unable to process.' }, 'upstream_transport', 'Unable to process.'],
    [{ type: 'error' }, 'upstream_transport', 'the upstream reported an error in its stream'],
  ])('%j ends with an error event', async (event, code, message) => {
    const { data, error } = await run([start, event, stop])
    expect(error).toBeUndefined()
    expect(data).toHaveLength(2)
    expect(data[1]).toMatchObject({ error: { message, code, request_id: 'r-1' } })
  })

  test('an object without a type is read by its members', async () => {
    const { error } = await run([start, { message: 'Too many requests.' }])
    expect(error).toMatchObject({
      code: 'upstream_transport',
      message: 'malformed event: it has no type, but says: Too many requests.',
    })
  })

  test('events before a fault are passed on, also in the same chunk', async () => {
    const { data, error } = await run([
      start,
      delta(0, { type: 'text_delta', text: 'hi' }),
      '{oops',
    ])
    expect(deltas(data)).toEqual([{ role: 'assistant', content: '' }, { content: 'hi' }])
    expect((data[0] as JsonObject).usage).toMatchObject({ prompt_tokens: 15 })
    expect(error).toMatchObject({ code: 'upstream_transport' })
  })

  test.each<[string, (JsonObject | string)[]]>([
    ['nothing at all', []],
    ['an end without message_stop', [start, finish('end_turn')]],
    ['data that is not JSON', [start, '{oops']],
    ['data that is not an object', [start, '[]']],
    ['[DONE] of another dialect', [start, '[DONE]']],
    ['a start without a message', [{ type: 'message_start' }]],
    ['a delta without a delta', [start, { type: 'content_block_delta', index: 0 }]],
    ['an invalid text', [start, delta(0, { type: 'text_delta', text: 7 })]],
  ])('%s is malformed', async (_, events) => {
    const { data, error } = await run(events)
    expect(error).toMatchObject({ code: 'upstream_transport', status: 502 })
    expect(data).not.toContain('[DONE]')
  })
})
