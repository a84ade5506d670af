import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../plugin/json.ts'
import { type StreamEvent, streamEvent } from '../plugin/stream.ts'
import { createChatStream } from './chat-stream.ts'
import { chatEvents, collectChat } from './collect-chat.ts'
import { collectResponse, responseEvents } from './collect-responses.ts'
import { sseText } from './dialect-stream.ts'
import { replyTexts } from './guard-text.ts'
import { createResponsesStream } from './responses-stream.ts'
import { decodeSse } from './sse.ts'

const text = fc.string({ unit: 'grapheme', minLength: 1 })
const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }

const chatReply: fc.Arbitrary<JsonObject> = fc
  .array(
    fc.record({
      content: fc.option(text),
      calls: fc.array(fc.record({ id: fc.uuid(), name: text, arguments: text }), { maxLength: 3 }),
      finish_reason: fc.constantFrom('stop', 'length', 'tool_calls'),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((choices) => ({
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: choices.map(({ content, calls, finish_reason }, index) => ({
      index,
      message: {
        role: 'assistant',
        content,
        ...(calls.length > 0 && {
          tool_calls: calls.map(({ id, ...fn }, at) => ({
            index: at,
            id,
            type: 'function',
            function: fn,
          })),
        }),
      },
      finish_reason,
    })),
    usage,
  }))

const response: fc.Arbitrary<JsonObject> = fc
  .array(
    fc.oneof(
      text.map((said) => ({
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: said, annotations: [] }],
      })),
      fc
        .record({ name: text, arguments: text })
        .map((call) => ({ type: 'function_call', call_id: 'c', status: 'completed', ...call })),
    ),
    { maxLength: 4 },
  )
  .map((items) => ({
    id: 'r1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'm',
    output: items.map((item, at) => ({ id: `item_${at}`, ...item })),
    usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
  }))

/** Through the wire and the rules of the family, in pieces of this many bytes. */
async function overTheWire(
  events: readonly StreamEvent[],
  family: ReturnType<typeof createChatStream>,
  size: number,
): Promise<StreamEvent[]> {
  const bytes = new TextEncoder().encode(sseText(events))
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const seen: StreamEvent[] = []
  for await (const batch of decodeSse(pieces())) seen.push(...family.push(batch))
  family.end()
  expect(family.outcome).toBe('complete')
  return [...seen, ...family.terminal]
}

const size = fc.integer({ min: 1, max: 200 })

describe('a reply that is made into a stream and collected again is the same', () => {
  test('chat', async () => {
    await fc.assert(
      fc.asyncProperty(chatReply, size, async (reply, pieces) => {
        const family = createChatStream({ publicModel: 'm', native: true })
        expect(collectChat(await overTheWire(chatEvents(reply), family, pieces))).toEqual(reply)
      }),
      { numRuns: 300 },
    )
  })

  test('responses', async () => {
    await fc.assert(
      fc.asyncProperty(response, size, async (reply, pieces) => {
        const family = createResponsesStream({ publicModel: 'm' })
        expect(collectResponse(await overTheWire(responseEvents(reply), family, pieces))).toEqual(
          reply,
        )
      }),
      { numRuns: 300 },
    )
  })
})

test('a response converted to a stream has its arguments once, in the events of their item', () => {
  const calls = ['function_call', 'mcp_call'].map((type, at) => ({
    id: `item_${at}`,
    type,
    name: 'f',
    arguments: '{"a":1}',
  }))
  const events = responseEvents({ status: 'completed', output: calls })
    .slice(0, -1)
    .map((event) => event.json())
  for (const [output_index, call] of calls.entries()) {
    const own = (type: string, members: JsonObject) => ({
      type: `response.${call.type}_arguments.${type}`,
      output_index,
      ...members,
    })
    const added = { type: 'response.output_item.added', output_index }
    expect(events).toContainEqual(
      expect.objectContaining({ ...added, item: { ...call, arguments: '' } }),
    )
    expect(events).toContainEqual(expect.objectContaining(own('delta', { delta: '{"a":1}' })))
    expect(events).toContainEqual(expect.objectContaining(own('done', { arguments: '{"a":1}' })))
  }
})

test('an approval request converted to a stream is complete, in the events of its item', () => {
  const item = { id: 'a', type: 'mcp_approval_request', name: 'f', arguments: '{"a":1}' }
  const events = responseEvents({ status: 'completed', output: [item] })
    .slice(0, -1)
    .map((event) => event.json())
  expect(events).toMatchObject([
    { type: 'response.created' },
    { type: 'response.output_item.added', item },
    { type: 'response.output_item.done', item },
    { type: 'response.completed' },
  ])
})

describe('all streamed content is collected', () => {
  const event = (data: JsonObject) => streamEvent(JSON.stringify(data))

  test('an item that the final response omits', () => {
    const item = { id: 'a', type: 'function_call', name: 'bash', arguments: '{"command":"x"}' }
    const body = collectResponse([
      event({ type: 'response.output_item.done', output_index: 0, item }),
      event({ type: 'response.completed', response: { status: 'completed', output: [] } }),
    ])
    expect(body.output).toEqual([item])
  })

  test('items of an upstream that gives all of them the same place, or none', () => {
    const item = (id: string, done = true) => ({
      id,
      type: 'function_call',
      name: id,
      arguments: done ? `{"command":"${id}"}` : '',
    })
    const body = collectResponse([
      ...['a', 'b'].flatMap((id) => [
        event({ type: 'response.output_item.added', output_index: 0, item: item(id, false) }),
        event({ type: 'response.output_item.done', output_index: 0, item: item(id) }),
      ]),
      event({ type: 'response.output_item.added', output_index: 0, item: item('c', false) }),
      event({ type: 'response.completed', response: { status: 'completed', output: [] } }),
    ])
    expect(body.output).toEqual([item('a'), item('b'), item('c', false)])
    const noPlace = event({ type: 'response.output_item.done', item: item('d') })
    expect(collectResponse([noPlace]).output).toEqual([item('d')])
  })

  test('a response of thousands of items is fast', () => {
    const output = Array.from({ length: 8000 }, (_, n) => ({ id: `${n}`, type: 'message' }))
    const events = [
      ...output.map((item, output_index) =>
        event({ type: 'response.output_item.done', output_index, item }),
      ),
      event({ type: 'response.completed', response: { status: 'completed', output } }),
    ]
    const before = performance.now()
    expect(collectResponse(events).output).toEqual(output)
    expect(performance.now() - before).toBeLessThan(1500)
  })

  test('a text that no item repeats', () => {
    const place = { output_index: 0, content_index: 0 }
    const body = collectResponse([
      event({ type: 'response.output_text.delta', ...place, delta: 'hid' }),
      event({ type: 'response.output_text.delta', ...place, delta: 'den' }),
      event({ type: 'response.completed', response: { status: 'completed', output: [] } }),
    ])
    expect(body.output_text).toEqual(['hidden'])
  })

  test('a text that is sent complete, once, and in no item', () => {
    const item = { id: 'a', type: 'message', content: [{ type: 'output_text', text: 'known' }] }
    const body = collectResponse([
      event({ type: 'response.output_text.delta', delta: 'piece' }),
      event({ type: 'response.output_text.done', text: 'piece' }),
      event({ type: 'response.output_text.done', text: 'known' }),
      event({ type: 'response.output_text.done', text: 'one' }),
      event({ type: 'response.refusal.done', refusal: 'two' }),
      event({ type: 'response.function_call_arguments.done', arguments: '{"three":3}' }),
      event({ type: 'response.custom_tool_call_input.done', input: 'four' }),
      event({ type: 'response.code_interpreter_call_code.done', code: 'five' }),
      event({ type: 'response.content_part.done', part: { type: 'output_text', text: 'six' } }),
      event({ type: 'response.content_part.done', part: { type: 'refusal', refusal: 'two' } }),
      event({ type: 'response.completed', response: { status: 'completed', output: [item] } }),
    ])
    expect(body).toEqual({
      status: 'completed',
      output: [item],
      output_text: ['piece', 'one', 'two', '{"three":3}', 'four', 'five', 'six'],
    })
  })

  test('texts and items whose events name no index', () => {
    const message = (id: string) => ({ id, type: 'message', content: [] })
    const body = collectResponse([
      event({ type: 'response.output_item.done', item: message('a') }),
      event({ type: 'response.output_item.done', item: message('b') }),
      event({ type: 'response.audio.transcript.delta', delta: 'hid' }),
      event({ type: 'response.audio.transcript.delta', delta: 'den' }),
      event({ type: 'response.audio.delta', delta: 'AAAA' }),
      event({ type: 'response.completed', response: { status: 'completed', output: [] } }),
    ])
    expect(body).toMatchObject({ output: [message('a'), message('b')], output_text: ['hidden'] })
  })

  test('arguments of a call that are only in a separate event', () => {
    const call = { id: 'a', type: 'function_call', name: 'bash', arguments: '' }
    const tool = { id: 'b', type: 'custom_tool_call', name: 'sh', input: '' }
    const place = (output_index: number, item_id: string) => ({ output_index, item_id })
    const body = collectResponse([
      event({ type: 'response.output_item.added', output_index: 0, item: call }),
      event({ type: 'response.function_call_arguments.done', ...place(0, 'a'), arguments: '{}' }),
      event({ type: 'response.output_item.added', output_index: 1, item: tool }),
      event({ type: 'response.custom_tool_call_input.done', ...place(1, 'b'), input: 'ls' }),
      event({ type: 'response.completed', response: { status: 'completed', output: [] } }),
    ])
    expect(body.output).toEqual([
      { ...call, arguments: '{}' },
      { ...tool, input: 'ls' },
    ])
  })

  describe('tool arguments in pieces', () => {
    const rm = '{"command":"rm -rf /home"}'
    const started = (item: JsonObject, output_index = 0) =>
      event({ type: 'response.output_item.added', output_index, item })
    const pieces = (type: string, text: string, place: JsonObject) =>
      (text.match(/.{1,9}/gs) ?? []).map((delta) => event({ type, ...place, delta }))
    const over = (type = 'response.completed') => event({ type, response: { output: [] } })

    test.each([
      ['function_call', 'arguments', 'response.function_call_arguments.delta'],
      ['mcp_call', 'arguments', 'response.mcp_call_arguments.delta'],
      ['custom_tool_call', 'input', 'response.custom_tool_call_input.delta'],
    ])('%s', (type, member, delta) => {
      const item = { id: 'a', type, name: 'bash', [member]: '' }
      const told = pieces(delta, rm, { output_index: 0, item_id: 'a' })
      for (const end of ['response.completed', 'response.incomplete']) {
        const { output } = collectResponse([started(item), ...told, over(end)])
        expect(output).toEqual([{ ...item, [member]: rm }])
      }
      const cut = collectResponse([started(item), ...told.slice(0, 2), over()])
      expect(cut.output).toEqual([{ ...item, [member]: rm.slice(0, 18) }])
    })

    test('that differ from those in the finished item', () => {
      const item = { id: 'a', type: 'function_call', name: 'bash', arguments: '' }
      const ls = { ...item, arguments: '{"command":"ls"}' }
      const place = { output_index: 0, item_id: 'a' }
      const told = pieces('response.function_call_arguments.delta', rm, place)
      const whole = event({
        type: 'response.function_call_arguments.done',
        ...place,
        arguments: rm,
      })
      const done = event({ type: 'response.output_item.done', output_index: 0, item: ls })
      for (const events of [told, [whole], [...told, whole]]) {
        const { output } = collectResponse([started(item), ...events, done, over()])
        expect(output).toEqual([ls, { ...item, arguments: rm }])
      }
      const twice = [whole, event({ type: 'x', ...place, arguments: '{}' }), done]
      expect(collectResponse([started(item), ...twice, over()]).output).toEqual([
        ls,
        { ...item, arguments: rm },
        { ...item, arguments: '{}' },
      ])
      const numbered = told.map(({ data }, command_index) =>
        event({ ...(JSON.parse(data) as JsonObject), command_index }),
      )
      expect(collectResponse([started(item), ...numbered, over()]).output).toEqual([
        { ...item, arguments: rm },
      ])
      const late = collectResponse([started(item), done, ...told, over()])
      expect(late.output).toEqual([ls, { ...item, arguments: rm }])
    })

    test('of several calls at one position, and at separate positions', () => {
      const call = (id: string) => ({ id, type: 'function_call', name: id, arguments: '' })
      const type = 'response.function_call_arguments.delta'
      const [one = [], two = []] = ['a', 'b'].map((item_id) =>
        pieces(type, `{"command":"${item_id} and more"}`, { output_index: 0, item_id }),
      )
      const mixed = one.flatMap((piece, at) => [piece, two[at] ?? piece])
      const { output } = collectResponse([started(call('a')), started(call('b')), ...mixed, over()])
      expect(output).toEqual(
        ['a', 'b'].map((id) => ({ ...call(id), arguments: `{"command":"${id} and more"}` })),
      )
      const unnamed = [0, 1].map((output_index) => pieces(type, rm, { output_index }))
      const apart = [started(call('a'), 0), started(call('b'), 1), ...unnamed.flat(), over()]
      expect(collectResponse(apart).output).toEqual(
        ['a', 'b'].map((id) => ({ ...call(id), arguments: rm })),
      )
    })

    test('commands of a shell, each with its index', () => {
      const item = { id: 'a', type: 'shell_call', action: { commands: [], timeout_ms: 5 } }
      const type = 'response.shell_call_command.delta'
      const { output } = collectResponse([
        started(item),
        ...pieces(type, 'ls -la /home', { output_index: 0, command_index: 0 }),
        ...pieces(type, 'rm -rf /home', { output_index: 0, command_index: 2 ** 31 }),
        over(),
      ])
      const action = { commands: ['ls -la /home', 'rm -rf /home'], timeout_ms: 5 }
      expect(output).toEqual([item, { ...item, action }])
    })
  })

  test('a message in addition to the pieces of a chat', () => {
    const chunk = (choice: JsonObject) => event({ choices: [{ index: 0, ...choice }] })
    const said = { delta: { content: 'fine' } }
    const calls = [{ id: 'c', type: 'function', function: { name: 'bash', arguments: '{}' } }]
    const other = { role: 'assistant', content: 'hidden', tool_calls: calls }
    const told = collectChat([chunk(said), chunk({ delta: {}, message: other })])
    expect(told.choices).toMatchObject([{ message: { content: 'fine' } }, { message: other }])
    const same = { role: 'assistant', content: 'fine', tool_calls: null, refusal: '' }
    const whole = collectChat([chunk(said), chunk({ delta: {}, message: same })])
    expect(whole.choices).toHaveLength(1)
    const parts = ['hid', 'den'].map((content) => chunk({ delta: {}, message: { content } }))
    expect(collectChat(parts).choices).toMatchObject([{}, { message: { content: 'hidden' } }])
  })

  const said = (delta: JsonObject) => event({ choices: [{ index: 0, delta, finish_reason: null }] })

  test('thinking in pieces, each a separate block', () => {
    const block = (more: JsonObject) => {
      const reasoning = { source: 'anthropic_messages_stream', blocks: [more] }
      return said({ provider_metadata: { cloud_x: { reasoning } } })
    }
    const body = collectChat([
      block({ type: 'thinking_delta', thinking: 'hid' }),
      block({ type: 'thinking_delta', thinking: 'den' }),
      block({ type: 'signature_delta', signature: 'sig' }),
      block({ type: 'thinking_delta', thinking: 'more' }),
    ])
    expect(body.choices).toMatchObject([
      {
        message: {
          provider_metadata: {
            cloud_x: {
              reasoning: {
                blocks: [
                  { type: 'thinking_delta', thinking: 'hidden' },
                  { type: 'signature_delta', signature: 'sig' },
                  { type: 'thinking_delta', thinking: 'more' },
                ],
              },
            },
          },
        },
      },
    ])
  })

  test('content in parts, and as text before and after them', () => {
    const thinking = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] })
    const body = collectChat([
      said({ role: 'assistant', content: '' }),
      said({ content: [thinking('hid')] }),
      said({ content: [thinking('den')] }),
      said({ content: 'an' }),
      said({ content: 'swer' }),
      said({ content: { type: 'image', text: 'odd' } }),
    ])
    const parts = [
      thinking('hidden'),
      { type: 'text', text: 'answer' },
      { type: 'image', text: 'odd' },
    ]
    expect(body.choices).toMatchObject([{ message: { content: parts } }])
  })

  test('reasoning in details that each repeat their type', () => {
    const detail = (text: string) => ({ type: 'reasoning.text', text, format: 'f', index: 0 })
    const body = collectChat(
      ['hid', 'den'].map((text) => said({ reasoning_details: [detail(text)] })),
    )
    expect(body.choices).toMatchObject([{ message: { reasoning_details: [detail('hidden')] } }])
  })

  test('parts that are whole stay apart', () => {
    const citation = { type: 'url_citation', url_citation: { url: 'u', title: 't' } }
    const parts = [
      { type: 'reasoning.text', index: 0, text: 'a' },
      { type: 'reasoning.text', index: 1, text: 'b' },
    ]
    const body = collectChat([
      ...[citation, citation].map((one) => said({ annotations: [one] })),
      ...parts.map((one) => said({ reasoning_details: [one] })),
    ])
    expect(body.choices).toMatchObject([
      { message: { annotations: [citation, citation], reasoning_details: parts } },
    ])
  })

  const collected = (deltas: readonly JsonObject[][]) => {
    const stream = createChatStream({ publicModel: 'm', native: true })
    return collectChat(stream.push(deltas.map((tool_calls) => said({ tool_calls }))))
  }
  const callsIn = (deltas: readonly JsonObject[][]) => collected(deltas).choices
  const callOf = (id: string, name: string, args: string) => ({
    id,
    function: { name, arguments: args },
  })
  const rest = (args: string) => ({ function: { arguments: args } })
  const both = [
    { message: { tool_calls: [callOf('a', 'one', '{"x":1}'), callOf('b', 'two', '{}')] } },
  ]

  test('calls that all have the same index', () => {
    const deltas = [
      [{ index: 0, ...callOf('a', 'one', '{"x":') }],
      [{ index: 0, ...rest('1}') }],
      [{ index: 0, ...callOf('b', 'two', '{') }],
      [{ index: 0, ...rest('}') }],
    ]
    expect(callsIn(deltas)).toMatchObject(both)
    // What is made of them tells them apart.
    const [first] = chatEvents(collected(deltas))
    expect(first?.json()).toMatchObject({
      choices: [
        {
          delta: {
            tool_calls: [
              { index: 0, id: 'a' },
              { index: 1, id: 'b' },
            ],
          },
        },
      ],
    })
  })

  test('calls without an index, which name their id once or each time', () => {
    expect(
      callsIn([
        [callOf('a', 'one', '{"x":')],
        [rest('1}')],
        [callOf('b', 'two', '{')],
        [rest('}')],
      ]),
    ).toMatchObject(both)
    expect(
      callsIn([
        [callOf('a', 'one', '{"x":'), callOf('b', 'two', '{')],
        [{ id: 'b', ...rest('}') }],
        [{ id: 'a', ...rest('1}') }],
      ]),
    ).toMatchObject(both)
  })

  test('a call whose other fragments have an empty id and an empty name', () => {
    const more = { index: 0, id: '', function: { name: '', arguments: '1}' } }
    expect(callsIn([[{ index: 0, ...callOf('a', 'one', '{"x":') }], [more]])).toMatchObject([
      { message: { tool_calls: [callOf('a', 'one', '{"x":1}')] } },
    ])
  })

  test('a call whose id comes late', () => {
    const first = { index: 0, function: { name: 'one', arguments: '{"x":' } }
    const id = expect.stringMatching(/^call_/)
    expect(callsIn([[first], [{ index: 0, id: 'a', ...rest('1}') }]])).toMatchObject([
      { message: { tool_calls: [{ ...callOf('', 'one', '{"x":1}'), id }] } },
    ])
  })

  test.each([
    ['anthropic_messages_stream', 'thinking_delta', 'thinking'],
    ['unified_stream', 'reasoning_text', 'text'],
    ['google_content_stream', 'thought', 'text'],
  ])('reasoning of %s that comes in pieces is one text', (source, type, member) => {
    const blocks = [
      { type, [member]: 'forb' },
      { type, [member]: 'idden' },
      { type: 'signature_delta', signature: 'c2ln' },
      { type, [member]: ' fruit' },
    ]
    const body = collectChat(
      blocks.map((block) => {
        const provider_metadata = { cloud_x: { reasoning: { source, blocks: [block] } } }
        return event({ choices: [{ index: 0, delta: { provider_metadata } }] })
      }),
    )
    expect(replyTexts(body).segments).toEqual(['forbidden', ' fruit'])
  })

  test('content that alternates between text and parts', () => {
    const reference = { type: 'reference', reference_ids: [1] }
    const thought = (text: string) => [{ type: 'thinking', thinking: [{ type: 'text', text }] }]
    const contents = [
      ...['', thought('h'), thought('m'), 'forb', 'idden', [reference]],
      ...[' fru', 'it', [{ type: 'text', text: '!' }]],
    ]
    const body = collectChat(
      contents.map((content) => event({ choices: [{ index: 0, delta: { content } }] })),
    )
    expect(replyTexts(body).segments).toEqual(['hm', 'forbidden', ' fruit!'])
  })

  test('interleaved fragments of calls', () => {
    const delta = (calls: JsonObject[]) =>
      event({ choices: [{ index: 0, delta: { tool_calls: calls }, finish_reason: null }] })
    const body = collectChat([
      delta([
        { index: 0, id: 'a', type: 'function', function: { name: 'one', arguments: '{"x":' } },
        { index: 1, id: 'b', type: 'function', function: { name: 'two', arguments: '' } },
      ]),
      delta([{ index: 1, function: { arguments: '{}' } }]),
      delta([{ index: 0, function: { arguments: '1}' } }]),
    ])
    expect(body.choices).toMatchObject([
      {
        message: {
          tool_calls: [
            { id: 'a', function: { name: 'one', arguments: '{"x":1}' } },
            { id: 'b', function: { name: 'two', arguments: '{}' } },
          ],
        },
      },
    ])
  })
})

test('a replayed reply keeps members of its choice next to the message', () => {
  const logprobs = { content: [], refusal: null }
  const choice = { index: 0, message: { content: 'a' }, logprobs, finish_reason: 'stop' }
  const events = chatEvents({ id: 'c1', choices: [choice] })
  expect(collectChat(events).choices).toMatchObject([{ logprobs, finish_reason: 'stop' }])
})

test('an incomplete response is not replayed as a complete one', () => {
  const details = { incomplete_details: { reason: 'max_output_tokens' }, output: [] }
  const names = (status: string) =>
    responseEvents({ status, ...details }).map(({ event, data }) => event ?? data)
  expect(names('incomplete').slice(-2)).toEqual(['response.incomplete', '[DONE]'])
  expect(names('completed').slice(-2)).toEqual(['response.completed', '[DONE]'])
})

test('the name of a function is set once, although each piece of its call repeats it', () => {
  const piece = (written: string) => ({
    index: 0,
    delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: written } }] },
  })
  const events = ['{', '}'].map((written) =>
    streamEvent(JSON.stringify({ choices: [piece(written)] })),
  )
  expect(collectChat(events).choices).toMatchObject([
    { message: { tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{}' } }] } },
  ])
})

test('streamed content is checked even if the last event omits it', () => {
  const item = (id: string) => ({ type: 'message', id, content: [] })
  const told = (type: string, members: object) =>
    streamEvent(JSON.stringify({ type, ...members }), type)
  const { output } = collectResponse([
    told('response.output_item.done', { output_index: 0, item: item('hidden') }),
    told('response.completed', { response: { status: 'completed', output: [item('stated')] } }),
  ])
  expect(output).toEqual([item('stated'), item('hidden')])
})
