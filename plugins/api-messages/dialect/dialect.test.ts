import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { decodeSse, encodeSse, type StreamEvent, streamEvent } from 'model-gateway/wire'
import { messagesDialect } from './index.ts'

const { streaming, readReply, views } = messagesDialect
const open = () => streaming.open({ publicModel: 'mine' })
const event = (type: string, members: object = {}) =>
  streamEvent(JSON.stringify({ type, ...members }), type)
const start = (more: object = {}) =>
  event('message_start', { message: { id: 'm', model: 'up', content: [], ...more } })
const stop = event('message_stop')

function run(events: readonly StreamEvent[]) {
  const told = open()
  const sent = told.push(events)
  told.end()
  return { told, all: [...sent, ...told.terminal] }
}

/** Blocks, fields and events, known ones and others. */
const json = fc.jsonValue() as fc.Arbitrary<JsonValue>
const block = fc.oneof(
  fc.record({ type: fc.constant('text'), text: fc.string(), citations: json }),
  fc.record({ type: fc.constant('server_tool_use'), id: fc.string(), input: fc.object() }),
  fc.record({ type: fc.string(), anything: json, data: fc.string() }),
) as fc.Arbitrary<JsonObject>
const delta = fc.oneof(
  fc.record({ type: fc.constant('text_delta'), text: fc.string() }),
  fc.record({ type: fc.constant('citations_delta'), citation: json }),
  fc.record({ type: fc.string(), anything: json }),
)
const named = fc.constantFrom('content_block_start', 'content_block_delta', 'odd_event', 'ping')
const between = fc
  .tuple(named, fc.nat(5), block, delta)
  .map(([type, index, content_block, delta]) =>
    event(type, type === 'content_block_start' ? { index, content_block } : { index, delta }),
  )

describe('a stream', () => {
  test('passes unchanged except for the model, however it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(between), fc.array(fc.nat(200)), async (events, cuts) => {
        const whole = [start({ unheard_of: 1 }), ...events, event('message_delta', { x: 1 }), stop]
        const text = whole.map(({ data, event }) => encodeSse(data, event)).join('')
        const bytes = new TextEncoder().encode(text)
        async function* pieces() {
          let at = 0
          for (const cut of [...cuts, bytes.length]) {
            yield bytes.subarray(at, at + cut)
            at += cut
          }
        }
        const told = open()
        let got = ''
        for await (const batch of decodeSse(pieces())) {
          for (const { raw, data, event } of told.push(batch)) got += raw ?? encodeSse(data, event)
        }
        for (const { raw, data, event } of told.terminal) got += raw ?? encodeSse(data, event)
        expect(told.outcome).toBe('complete')
        expect(got).toBe(text.replace('"model":"up"', '"model":"mine"'))
      }),
    )
  })

  test('gets event names, which official clients need', () => {
    const { all } = run([start(), stop].map(({ data }) => streamEvent(data)))
    expect(all.map(({ event }) => event)).toEqual(['message_start', 'message_stop'])
  })

  test('keeps its last event until settlement, and counts the reported usage', () => {
    const told = open()
    const usage = { input_tokens: 5, cache_read_input_tokens: 3, output_tokens: 1 }
    told.push([start({ usage }), event('message_delta', { usage: { output_tokens: 9 } }), stop])
    expect(told.terminal).toEqual([stop])
    expect(told.usage).toMatchObject({ uncachedInput: 5, cacheRead: 3, output: 9 })
  })

  test('with a repeated message_start has one', () => {
    expect(run([start(), start(), stop]).all).toHaveLength(2)
  })

  test('counts its tool calls, hosted tools too', () => {
    const use = (type: string) =>
      event('content_block_start', { index: 0, content_block: { type } })
    const { told } = run([start(), use('tool_use'), use('mcp_tool_use'), use('text'), stop])
    expect(told.invokedToolCount).toBe(2)
  })

  test.each<[string, StreamEvent[], string]>([
    ['ends too soon', [start()], 'premature end'],
    ['is empty', [], 'empty stream'],
    ['holds no JSON', [start(), streamEvent('x', 'odd')], 'malformed event'],
    ['says why it fails', [start(), streamEvent('{"message":"too busy"}')], 'too busy'],
  ])('that %s has failed', (_, events, message) => {
    const { told } = run(events)
    expect(told.failure).toMatchObject({ message: expect.stringContaining(message) })
    expect(told.failure?.forwarded).toBe(false)
  })

  test('with an error event fails with its message', () => {
    const error = event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } })
    const { told, all } = run([start(), error, stop])
    expect(told.failure).toMatchObject({ code: 'overloaded_error', forwarded: true })
    expect(all.at(-1)?.event).toBe('error')
  })
})

describe('collected and streamed again', () => {
  test('a message is the same', () => {
    fc.assert(
      fc.property(fc.array(block), json, (content, more) => {
        const message = { type: 'message', model: 'm', content, more, stop_reason: 'pause_turn' }
        const plain = JSON.parse(JSON.stringify(message))
        expect(JSON.stringify(streaming.collect(streaming.tell(plain)))).toBe(JSON.stringify(plain))
      }),
    )
  })

  test('no streamed content is lost', () => {
    const begin = (text: string) =>
      event('content_block_start', { index: 0, content_block: { type: 'text', text } })
    const add = (index: number, members: object) =>
      event('content_block_delta', { index, delta: members })
    const reply = streaming.collect([
      start(),
      begin('one'),
      begin('two'),
      add(0, { type: 'text_delta', text: ' more' }),
      add(7, { type: 'text_delta', text: 'loose' }),
      add(8, { type: 'input_json_delta', partial_json: '{"a":' }),
      stop,
    ])
    const said = JSON.stringify(reply.content)
    for (const text of ['one', 'two more', 'loose', '{\\"a\\":']) expect(said).toContain(text)
  })
})

test('reads the usage of a reply', () => {
  const usage = {
    input_tokens: 10,
    cache_creation_input_tokens: 6,
    cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 4 },
    output_tokens: 5,
    output_tokens_details: { thinking_tokens: 3 },
    server_tool_use: { web_search_requests: 1 },
    iterations: [{ type: 'compaction', input_tokens: 100, output_tokens: 20 }],
  }
  expect(readReply({ content: [{ type: 'server_tool_use' }], usage })).toEqual({
    usage: {
      uncachedInput: 110,
      cacheRead: undefined,
      cacheWrite: 6,
      cacheWriteHour: 4,
      output: 25,
      reasoning: 3,
      promptTokens: 116,
      totalTokens: 141,
      uses: { web_search: 1 },
    },
    invokedToolCount: 1,
  })
})

test('guards see and can change the calls of a reply and of earlier turns', () => {
  const use = { type: 'tool_use', id: 't', name: 'run', input: { command: 'ls' } }
  const reply = { content: [{ type: 'text', text: 'a' }, use] }
  const made = views.madeToolCalls(reply)
  expect(made.calls).toEqual([{ tool: 'run', arguments: '{"command":"ls"}' }])
  const other = made.replace([{ tool: 'run', arguments: '{"command":"pwd"}' }])
  expect(other.content as object[]).toEqual([
    { type: 'text', text: 'a' },
    { ...use, input: { command: 'pwd' } },
  ])
  const messages = [
    { role: 'user', content: 'x' },
    { role: 'assistant', content: [use] },
  ]
  expect(views.earlierToolCalls({ messages })).toEqual(made.calls)
})
