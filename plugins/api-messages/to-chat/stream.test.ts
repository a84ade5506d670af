import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { createChatStream, type StreamEvent, streamEvent, UNSIGNED } from 'model-gateway/wire'
import { sseText } from '../../../kernel/wire/dialect-stream.ts'
import { createMessagesStream } from './stream.ts'

const identity = { publicModel: 'mine', requestId: 'r1' }
const DONE = '[DONE]'

/** Chunks, or other data, pushed one by one. */
function run(...chunks: readonly (JsonObject | string)[]) {
  const stream = createMessagesStream(
    createChatStream({ publicModel: 'mine', native: true }),
    identity,
  )
  const sent: StreamEvent[] = []
  for (const chunk of chunks) {
    const data = typeof chunk === 'string' ? chunk : JSON.stringify({ id: 'msg_1', ...chunk })
    sent.push(...stream.push([streamEvent(data)]))
  }
  return { stream, sent }
}

const choice = (delta: JsonObject, finish: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const tool = (index: number, id: string | undefined, name: string | undefined, args: string) =>
  choice({
    tool_calls: [
      {
        index,
        ...(id && { id, type: 'function' }),
        function: { ...(name && { name }), arguments: args },
      },
    ],
  })
const thought = (...blocks: JsonObject[]) =>
  choice({
    provider_metadata: {
      cloud_x: { reasoning: { source: 'anthropic_messages_stream', blocks } },
    },
  })

/** Events in a word or two, so that their order can be read. */
function brief(events: readonly StreamEvent[]): string[] {
  return events.map((event) => {
    const data = JSON.parse(event.data) as Record<string, JsonValue>
    expect(event.event).toBe(data.type as string)
    const index = data.index ?? ''
    if (data.type === 'content_block_start') {
      const block = data.content_block as JsonObject
      return `start ${index} ${block.type}${block.type === 'tool_use' ? ` ${block.id} ${block.name}` : ''}`
    }
    if (data.type === 'content_block_stop') return `stop ${index}`
    if (data.type === 'content_block_delta') {
      const delta = data.delta as JsonObject
      const { text, partial_json, thinking, signature } = delta
      return `${index} ${text ?? partial_json ?? thinking ?? signature}`
    }
    return String(data.type)
  })
}

test('usage at the start is in message_start, as from native upstreams', () => {
  const usage = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 }
  const cached = { ...usage, prompt_tokens_details: { cached_tokens: 4 } }
  const { sent } = run({ ...choice({ role: 'assistant', content: '' }), usage: cached })
  expect(sent[0]?.json()).toMatchObject({
    type: 'message_start',
    message: { usage: { input_tokens: 5, output_tokens: 1, cache_read_input_tokens: 4 } },
  })
})

test('a text stream, event by event', () => {
  const { stream, sent } = run(
    choice({ role: 'assistant', content: '' }),
    choice({ content: 'Hel' }),
    choice({ content: 'lo' }),
    choice({}, 'stop'),
    { choices: [], usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 } },
    DONE,
  )
  const text = sseText([...sent, ...stream.terminal])
  expect(text).toBe(
    `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"mine","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":9,"output_tokens":2}}

event: message_stop
data: {"type":"message_stop"}

`,
  )
  expect(stream.terminal.map((event) => event.event)).toEqual(['message_delta', 'message_stop'])
  expect(stream).toMatchObject({ outcome: 'complete', failure: undefined, invokedToolCount: 0 })
  expect(stream.usage?.promptTokens).toBe(9)
})

test('thinking, its signature, redacted thinking', () => {
  const { sent } = run(
    thought({ type: 'thinking_delta', thinking: 'hm' }),
    thought({ type: 'thinking_delta', thinking: '…' }),
    thought({ type: 'signature_delta', signature: 's1' }),
    thought({ type: 'redacted_thinking', data: 'secret' }),
    thought({ type: 'thinking_delta', thinking: 'again' }),
    thought({ type: 'signature_delta', signature: 's2' }),
    thought({ type: 'signature_delta', signature: 's3' }),
    choice({ content: 'yes' }, 'stop'),
  )
  expect(brief(sent)).toEqual([
    'message_start',
    'start 0 thinking',
    '0 hm',
    '0 …',
    '0 s1',
    'stop 0',
    'start 1 redacted_thinking',
    'stop 1',
    'start 2 thinking',
    '2 again',
    '2 s2',
    'stop 2',
    'start 3 thinking',
    '3 s3',
    'stop 3',
    'start 4 text',
    '4 yes',
    'stop 4',
  ])
})

test('unsigned thinking gets a signature that the gateway recognizes', () => {
  const source = 'google_content_stream'
  const blocks = [{ type: 'thinking_delta', thinking: 'x' }]
  const { sent } = run(
    choice({ provider_metadata: { cloud_x: { reasoning: { source, blocks } } } }),
    choice({ reasoning_content: 'y' }),
    choice({ content: 'z' }),
  )
  expect(brief(sent)).toEqual([
    'message_start',
    'start 0 thinking',
    '0 x',
    '0 y',
    `0 ${UNSIGNED}`,
    'stop 0',
    'start 1 text',
    '1 z',
  ])
})

describe('tool calls', () => {
  test('in sequence are streamed', () => {
    const { stream, sent } = run(
      choice({ content: 'Let me look.' }),
      tool(0, 'a', 'f', ''),
      tool(0, undefined, undefined, '{"x"'),
      tool(0, undefined, undefined, ':1}'),
      tool(1, 'b', 'g', '{}'),
      choice({}, 'tool_calls'),
      DONE,
    )
    expect(brief(sent)).toEqual([
      'message_start',
      'start 0 text',
      '0 Let me look.',
      'stop 0',
      'start 1 tool_use a f',
      '1 {"x"',
      '1 :1}',
      'stop 1',
      'start 2 tool_use b g',
      '2 {}',
      'stop 2',
    ])
    expect(stream.terminal[0]?.json()).toMatchObject({ delta: { stop_reason: 'tool_use' } })
    expect(stream.invokedToolCount).toBe(2)
  })

  test('that are interleaved are reordered without loss', () => {
    const { sent } = run(
      choice({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '' } }] }),
      tool(1, 'b', 'g', '{"y"'),
      tool(0, undefined, undefined, '{"x":'),
      choice({ content: 'meanwhile' }),
      tool(1, undefined, undefined, ':2}'),
      tool(0, undefined, undefined, '1}'),
      choice({}, 'tool_calls'),
    )
    expect(brief(sent)).toEqual([
      'message_start',
      'start 0 tool_use a f',
      '0 {"x":',
      '0 1}',
      'stop 0',
      'start 1 tool_use b g',
      '1 {"y"',
      '1 :2}',
      'stop 1',
      'start 2 text',
      '2 meanwhile',
      'stop 2',
    ])
  })

  test('without arguments, without an id, and all at index 0', () => {
    const { sent } = run(
      tool(0, 'a', 'f', ''),
      tool(0, 'b', 'g', '{}'),
      tool(3, undefined, 'h', '{"z":1}'),
      choice({}, 'stop'),
    )
    expect(brief(sent)).toEqual([
      'message_start',
      'start 0 tool_use a f',
      'stop 0',
      'start 1 tool_use b g',
      '1 {}',
      'stop 1',
      expect.stringMatching(/^start 2 tool_use call_\S+ h$/),
      '2 {"z":1}',
      'stop 2',
    ])
  })

  test('with an object as arguments have it as JSON text', () => {
    const call = { index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } }
    const { sent } = run(choice({ tool_calls: [call] }))
    expect(brief(sent)).toEqual(['message_start', 'start 0 tool_use a f', '0 {"x":1}'])
  })

  test('whose name is empty in later pieces keep it while they wait', () => {
    const nameless = (index: number, written: string) =>
      choice({ tool_calls: [{ index, function: { name: '', arguments: written } }] })
    const { sent } = run(
      tool(0, 'a', 'f', '{"x"'),
      tool(1, 'b', 'g', '{'),
      nameless(1, '}'),
      nameless(0, ':1}'),
    )
    expect(brief(sent)).toEqual([
      'message_start',
      'start 0 tool_use a f',
      '0 {"x"',
      '0 :1}',
      'stop 0',
      'start 1 tool_use b g',
      '1 {',
      '1 }',
    ])
  })

  test('whose id comes late have a generated one', () => {
    const { sent } = run(tool(0, undefined, 'f', '{"x"'), tool(0, 'a', undefined, ':1}'))
    const begun = expect.stringMatching(/^start 0 tool_use call_\S+ f$/)
    expect(brief(sent)).toEqual(['message_start', begun, '0 {"x"', '0 :1}'])
  })
})

describe('usage', () => {
  const delta = (...chunks: JsonObject[]) => {
    const { stream } = run(...chunks, DONE)
    return stream.terminal.at(-2)?.json()
  }
  test('counters merge by maximum, cached input is separate', () => {
    expect(
      delta(
        {
          ...choice({ content: 'x' }),
          usage: { prompt_tokens: 100, completion_tokens: 1, total_tokens: 101 },
        },
        choice({}, 'stop'),
        {
          choices: [],
          usage: {
            prompt_tokens: 90,
            completion_tokens: 20,
            total_tokens: 120,
            prompt_tokens_details: { cached_tokens: 60 },
          },
        },
      ),
    ).toMatchObject({
      usage: { input_tokens: 40, output_tokens: 20, cache_read_input_tokens: 60 },
    })
  })
  test('an upstream without usage', () => {
    expect(delta(choice({ content: 'x' }, 'stop'))).toMatchObject({
      usage: { input_tokens: 0, output_tokens: 0 },
    })
  })
})

describe('how it ends', () => {
  test('without [DONE], when every choice is finished', () => {
    const { stream } = run(choice({ content: 'x' }, 'length'))
    expect(stream.outcome).toBe('open')
    stream.end()
    expect(brief(stream.terminal)).toEqual(['message_delta', 'message_stop'])
    expect(stream.terminal[0]?.json()).toMatchObject({ delta: { stop_reason: 'max_tokens' } })
  })

  test('without a finish_reason: open blocks are closed', () => {
    const { stream } = run(choice({ content: 'x' }), DONE)
    expect(brief(stream.terminal)).toEqual(['stop 0', 'message_delta', 'message_stop'])
  })

  test('without any choice there is a message all the same', () => {
    const { stream, sent } = run({ choices: [], usage: { prompt_tokens: 1 } }, DONE)
    expect(sent).toEqual([])
    expect(brief(stream.terminal)).toEqual(['message_start', 'message_delta', 'message_stop'])
  })

  test('an upstream error ends it, and is the failure', () => {
    const { stream, sent } = run(
      choice({ content: 'x' }),
      { error: { message: 'overloaded', code: 'busy' } },
      choice({ content: 'y' }, 'stop'),
      DONE,
    )
    expect(brief(sent)).toEqual(['message_start', 'start 0 text', '0 x'])
    expect(stream).toMatchObject({
      outcome: 'failed',
      failure: { code: 'busy', message: 'overloaded', forwarded: false },
      terminal: [],
    })
  })

  test.each([
    ['a premature end', [choice({ content: 'x' })], 'premature end'],
    ['a malformed chunk', [choice({ content: 'x' }), '{oops'], 'malformed event'],
    ['no event at all', [], 'empty stream'],
  ] as [string, (JsonObject | string)[], string][])('%s', (_, chunks, kind) => {
    const { stream } = run(...chunks)
    stream.end()
    expect(stream.outcome).toBe('failed')
    expect(stream.failure?.message).toStartWith(kind)
    expect(stream.terminal).toEqual([])
  })

  test('choices after the first are ignored', () => {
    const { sent } = run({
      choices: [
        { index: 1, delta: { content: 'b' }, finish_reason: null },
        { index: 0, delta: { content: 'a' }, finish_reason: null },
      ],
    })
    expect(brief(sent)).toEqual(['message_start', 'start 0 text', '0 a'])
  })
})
