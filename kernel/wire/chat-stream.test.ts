import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject, JsonValue } from '../plugin/json.ts'
import { type StreamEvent, streamEvent } from '../plugin/stream.ts'
import { createChatStream } from './chat-stream.ts'
import { plainError, sseText } from './dialect-stream.ts'
import { decodeSse } from './sse.ts'

const utf8 = new TextEncoder()

function chunk(more: JsonObject): string {
  return JSON.stringify({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'up',
    ...more,
  })
}
const text = (content: string, index = 0) =>
  chunk({ choices: [{ index, delta: { content }, finish_reason: null }] })
const finish = (reason = 'stop', index = 0) =>
  chunk({ choices: [{ index, delta: {}, finish_reason: reason }] })
const counted = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }
const usage = chunk({ choices: [], usage: counted })

/** Runs whole frames through the stream, one batch each, and then its end. */
function run(...data: string[]) {
  const stream = createChatStream({ publicModel: 'mine', native: true })
  const sent = data.flatMap((item) => stream.push([streamEvent(item)]))
  stream.end()
  return { stream, sent: sent.map((event) => event.json() as JsonObject) }
}

describe('a chat stream', () => {
  test('gets the public model in every chunk and one [DONE]', () => {
    const { stream, sent } = run(text('a'), text('b'), finish(), usage, '[DONE]', text('late'))
    expect(sent).toHaveLength(4)
    expect(sent.every((event) => event.model === 'mine')).toBe(true)
    expect(stream.outcome).toBe('complete')
    expect(sseText(stream.terminal)).toBe('data: [DONE]\n\n')
    expect(stream.usage).toMatchObject({ uncachedInput: 3, output: 5, totalTokens: 8 })
  })

  test.each([[streamEvent(text('a'))], [[text('a')]], [[JSON.parse(text('a'))]], [undefined]])(
    'explains batches when it gets something else',
    (batch) => {
      const { push } = createChatStream({ publicModel: 'mine', native: true })
      expect(() => push(batch as never)).toThrow(
        'a stream yields batches: lists of events that streamEvent or decodeSse makes',
      )
    },
  )

  test('passes a chunk that needs no change on as the same object', () => {
    const event = streamEvent(
      text('a').replace('"up"', '"mine"').replace('{"content"', '{"role":"assistant","content"'),
    )
    expect(createChatStream({ publicModel: 'mine', native: true }).push([event])[0]).toBe(event)
  })

  test('keeps all bytes around the model', () => {
    const data =
      '{ "id":"c","object":"chat.completion.chunk","created":1,"big":12345678901234567890,  "model" : "up", "choices":[] , "usage":null}'
    const [event] = createChatStream({ publicModel: 'mine', native: true }).push([
      streamEvent(data),
    ])
    expect(event?.data).toBe(data.replace('"up"', '"mine"'))
  })

  test('is complete without [DONE] when every choice has finished', () => {
    expect(run(text('a'), text('b', 1), finish('stop', 1), finish()).stream.outcome).toBe(
      'complete',
    )
    const { stream } = run(text('a'), text('b', 1), finish())
    expect(stream.failure).toMatchObject({ code: 'upstream_transport', forwarded: false })
    expect(stream.failure?.message).toContain('premature end')
    expect(sseText(run(text('a'), finish()).stream.terminal)).toBe('data: [DONE]\n\n')
    expect(run(usage).stream.failure?.message).toContain('premature end')
  })

  test('has finished once it is complete, whatever its choices contain afterwards', () => {
    const quiet = chunk({ choices: [{ index: 0, delta: {} }] })
    expect(run(quiet, finish(), text(''), quiet).stream.outcome).toBe('complete')
  })

  test('ends with [DONE], also with blanks around it, and with usage alone', () => {
    expect(run(finish(), ' [DONE] ').stream.outcome).toBe('complete')
    const { stream, sent } = run(finish(), chunk({ usage: counted }))
    expect(sent.at(-1)).toMatchObject({ model: 'mine', usage: counted })
    expect(stream.usage).toMatchObject({ output: 5 })
  })

  test('without an event is an error', () => {
    expect(run().stream.failure?.message).toContain('empty stream')
  })

  test.each([
    ['not json', 'oops'],
    ['half of an object', '{"id":"c","choices":[{"index":0,"del'],
    ['an array', '[1]'],
    ['choices of another type', chunk({ choices: { first: 1 } })],
    ['a choice that is not an object', chunk({ choices: [1] })],
    ['a delta that is not an object', chunk({ choices: [{ index: 0, delta: 'x' }] })],
    ['a numeric finish_reason', chunk({ choices: [{ index: 0, delta: {}, finish_reason: 7 }] })],
  ])('with %s is malformed', (_, data) => {
    const { stream } = run(text('a'), data, '[DONE]')
    expect(stream.failure?.message).toContain('malformed event')
    expect(stream.terminal).toEqual([])
  })

  test.each([
    ['of another type', { first: 1 }],
    ['with a numeric finish_reason', [{ index: 0, delta: {}, finish_reason: 7 }]],
  ])('reads usage from a chunk with malformed choices: %s', (_, choices) => {
    const { stream } = run(text('a'), chunk({ choices, usage: counted }))
    expect(stream.failure?.message).toContain('malformed event')
    expect(stream.usage).toMatchObject({ output: 5 })
  })

  test('reports the message of an object without choices', () => {
    const stream = createChatStream({ publicModel: 'm', native: true })
    stream.push([streamEvent('{"message":"Too many requests."}')])
    expect(stream.failure?.message).toBe(
      'malformed event: it has no choices, but says: Too many requests.',
    )
  })

  test.each([
    [
      'an error object without an error',
      '{"object":"error","message":"no","type":"BadRequestError"}',
    ],
    ['an error by its type alone', '{"type":"overloaded_error","message":"no"}'],
  ])('ends with %s, in the form that clients know', (_, data) => {
    const { stream, sent } = run(text('a'), data, finish())
    expect(stream.failure).toMatchObject({ message: 'no', forwarded: true })
    expect(sent).toHaveLength(2)
    expect(sent[1]).toMatchObject({ error: { message: 'no', type: 'upstream_error' } })
  })

  test('forwards an error of the upstream and ends there', () => {
    const { stream, sent } = run(
      text('a'),
      '{"error":{"message":"busy","code":"overloaded"}}',
      '[DONE]',
    )
    expect(sent.at(-1)).toEqual({ error: { message: 'busy', code: 'overloaded' } })
    expect(stream.failure).toEqual({ code: 'overloaded', message: 'busy', forwarded: true })
    const costly = run(JSON.stringify({ error: { message: 'x' }, model: 'up', usage: counted }))
    expect(costly.sent).toMatchObject([{ model: 'mine' }])
    expect(costly.stream.usage).toMatchObject({ output: 5 })
    expect(run('{"type":"error","message":"x"}').stream.failure?.message).toBe('x')
    expect(run(chunk({ choices: [], error: null, usage: counted }), '[DONE]').stream.outcome).toBe(
      'complete',
    )
  })

  test('has its usage promoted from the first choice that carries it', () => {
    const inChoice = chunk({
      choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: counted }],
    })
    const { stream, sent } = run(inChoice)
    expect(sent[0]?.usage).toEqual(counted)
    expect(stream.usage).toMatchObject({ promptTokens: 3, output: 5 })
    const other = { prompt_tokens: 3, completion_tokens: 9 }
    const both = run(chunk({ choices: [{ index: 0, delta: {}, usage: other }], usage: counted }))
    expect(both.sent[0]?.usage).toEqual(counted)
    expect(both.stream.usage).toMatchObject({ output: 5 })
  })

  test('that is converted tells its counters at the end alone, and knows them before', () => {
    const early = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 }
    const begun = (counters: JsonObject | null) =>
      chunk({
        choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }],
        usage: counters,
      })
    const end = chunk({
      choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
      usage: counted,
    })
    const stream = createChatStream({ publicModel: 'mine', native: false })
    const push = (data: string) => stream.push([streamEvent(data)])[0]?.json() as JsonObject
    expect(push(begun(early))).toEqual({ ...JSON.parse(begun(null)), model: 'mine' })
    expect(stream.usage).toMatchObject({ promptTokens: 3, output: 1 })
    expect(push(end).usage).toEqual(counted)
    expect(push(usage).usage).toEqual(counted)
    expect(run(begun(early)).sent[0]?.usage).toEqual(early)
  })

  test.each(['reasoning_content', 'reasoning_text'])('copies %s to reasoning', (name) => {
    const { sent } = run(
      chunk({ choices: [{ index: 0, delta: { [name]: 'hm' }, finish_reason: null }] }),
    )
    expect(sent[0]?.choices).toMatchObject([{ delta: { [name]: 'hm', reasoning: 'hm' } }])
    const both = { reasoning: 'own', [name]: 'other' }
    const { sent: kept } = run(chunk({ choices: [{ index: 0, delta: both, finish_reason: null }] }))
    expect(kept[0]?.choices).toMatchObject([{ delta: both }])
  })

  test('adds members that clients expect in each chunk', () => {
    const { sent } = run(
      '{"choices":[{"delta":{"role":null,"content":"a","tool_calls":null,"function_call":null}}]}',
      '{"id":"u","choices":[{"delta":null,"finish_reason":""}],"usage":{}}',
      '{"id":"u","created":5,"choices":[null,{"index":0,"finish_reason":"stop"}]}',
      '{"object":"chat.completion.chunk","citations":["https://a"]}',
      '{"usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8}}',
    )
    const [first] = sent
    expect(first?.id).toBeString()
    expect(first?.created).toBeNumber()
    const all = { object: 'chat.completion.chunk', model: 'mine' }
    expect(sent).toEqual([
      {
        ...{ ...all, id: first?.id as string, created: first?.created as number },
        choices: [{ index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: null }],
      },
      {
        ...{ ...all, id: 'u', created: first?.created as number, usage: null },
        choices: [{ index: 0, delta: {}, finish_reason: null }],
      },
      { ...all, id: 'u', created: 5, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { ...all, id: 'u', created: 5, choices: [], citations: ['https://a'] },
      { ...all, id: 'u', created: 5, choices: [], usage: counted },
    ])
  })

  test('a whole message in one chunk becomes one delta', () => {
    const message = { role: 'assistant', content: 'hi', tool_calls: [{ id: 'a', function: {} }] }
    const { stream, sent } = run(
      chunk({ choices: [{ index: 0, message, finish_reason: 'stop' }] }),
      chunk({ choices: [{ index: 0, message, finish_reason: 'stop' }] }),
    )
    expect(sent.map((each) => (each.choices as JsonObject[])[0]?.delta)).toEqual([
      { ...message, tool_calls: [{ index: 0, id: 'a', type: 'function', function: {} }] },
      {},
    ])
    expect(stream.invokedToolCount).toBe(1)
  })

  test('reads the counters that are in x_groq', () => {
    const { stream, sent } = run(finish(), chunk({ choices: [], x_groq: { usage: counted } }))
    expect(stream.usage).toMatchObject({ output: 5 })
    expect(sent.at(-1)?.usage).toEqual(counted)
  })

  test('omits counters that the caller did not ask for, and still reads them', () => {
    const stream = createChatStream({ publicModel: 'm', native: true, usageUnasked: true })
    const sent = [text('a'), finish(), usage, chunk({ usage: counted })].flatMap((data) =>
      stream.push([streamEvent(data)]),
    )
    stream.end()
    expect(sent).toHaveLength(2)
    expect(stream).toMatchObject({ outcome: 'complete', usage: { output: 5 } })
  })

  const piece = (call: JsonObject) =>
    chunk({ choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }] })
  const piecesOf = (sent: JsonObject[]) =>
    sent.slice(0, -1).map((each) => {
      const [choice] = each.choices as { delta: { tool_calls: JsonObject[] } }[]
      return choice?.delta.tool_calls[0] as JsonObject
    })

  test('gives each piece of a tool call the index of its call', () => {
    const written = (...calls: JsonObject[]) =>
      piecesOf(run(...calls.map(piece), finish('tool_calls')).sent)
    const more = { function: { arguments: 'x' } }
    // Google's compatible API gives every call the index 0: QuantumNous/new-api#2701.
    const alike = written(
      ...[
        { index: 0, id: 'a' },
        { index: 0, ...more },
        { index: 0, ...more },
      ],
      ...[
        { index: 0, id: 'b' },
        { index: 0, ...more },
        { index: 0, ...more },
      ],
      ...[
        { index: 0, id: 'a', ...more },
        { index: 0, ...more },
        { index: 1, id: 'c' },
      ],
    )
    expect(alike.map(({ index }) => index)).toEqual([0, 0, 0, 1, 1, 1, 0, 0, 2])
    expect(written({ id: 'a' }, more, { id: 'b' }, more).map(({ index }) => index)).toEqual([
      ...[0, 0, 1, 1],
    ])
    expect(written({ index: 3, id: 'a' }, { index: 3, ...more })).toEqual([
      { index: 3, id: 'a' },
      { index: 3, ...more },
    ])
    const empty = { id: null, type: null, function: { name: null, arguments: { a: 1 } } }
    expect(written({ index: 0, ...empty })).toEqual([
      { index: 0, type: 'function', function: { arguments: '{"a":1}' } },
    ])
  })

  const first = { index: 0, function: { name: 'f', arguments: '' } }
  test('gives a tool call an id with its name, when the upstream has sent none by then', () => {
    const late = { index: 0, id: 'late', function: { arguments: '{}' } }
    const { sent } = run(...[first, late, late].map(piece), finish('tool_calls'))
    const [begun, ...further] = piecesOf(sent)
    expect(begun?.id).toStartWith('call_')
    expect(begun).toMatchObject({ ...first, type: 'function' })
    // The caller answers with one id only.
    expect(further).toEqual([{ index: 0, function: { arguments: '{}' } }, further[0] as JsonObject])
    const named = [{ index: 0, id: 'a' }, first]
    expect(piecesOf(run(...named.map(piece), finish('tool_calls')).sent)[1]).not.toHaveProperty(
      'id',
    )
  })

  test('writes a number for the id of a tool call as text', () => {
    // CherryHQ/cherry-studio#16322
    const numbered = [
      { ...first, id: 1 },
      { index: 0, id: 2 },
    ].map(piece)
    const ids = piecesOf(run(...numbered, finish('tool_calls')).sent)
    expect(ids).toMatchObject([
      { index: 0, id: '1' },
      { index: 1, id: '2' },
    ])
  })

  test('counts the tool calls that began, by choice and index', () => {
    const call = (index: number, id: string | undefined, args: string, choice = 0) =>
      chunk({
        choices: [
          {
            index: choice,
            delta: { tool_calls: [{ index, ...(id && { id }), function: { arguments: args } }] },
            finish_reason: null,
          },
        ],
      })
    const { stream } = run(
      call(0, 'a', ''),
      call(0, undefined, '{"x"'),
      call(0, undefined, ':1}'),
      call(1, 'b', '{}'),
      call(0, 'c', '{}', 1),
      finish('tool_calls'),
      finish('tool_calls', 1),
    )
    expect(stream.invokedToolCount).toBe(3)
    // Some upstreams use index 0 for every call, and some send an id late or with each piece.
    expect(run(call(0, 'a', '{}'), call(0, 'b', '{}')).stream.invokedToolCount).toBe(2)
    expect(run(call(0, undefined, ''), call(0, 'a', '{}')).stream.invokedToolCount).toBe(1)
    expect(run(call(0, 'a', '{'), call(0, 'a', '}')).stream.invokedToolCount).toBe(1)
    const pieces = [call(0, 'a', '{}'), call(0, 'b', '{'), call(0, 'b', '}')]
    expect(run(...pieces).stream.invokedToolCount).toBe(2)
    // Others send no index, or an empty id with each further piece.
    const delta = { tool_calls: [{ function: { name: 'f' } }, { id: 'b', function: {} }] }
    const further = { tool_calls: [{ id: '' }, { id: '' }] }
    expect(
      run(
        chunk({ choices: [{ index: 0, delta }] }),
        chunk({ choices: [{ index: 0, delta: further }] }),
      ).stream.invokedToolCount,
    ).toBe(2)
  })

  test('keeps the latest coherent counters when later ones cannot be true', () => {
    const wrong = chunk({ choices: [], usage: { prompt_tokens: -1, completion_tokens: 2 } })
    const { stream } = run(text('a'), usage, wrong, finish())
    expect(stream.usage).toMatchObject({ uncachedInput: 3, output: 5, doubt: 'negative_count' })
  })
})

/** A simple reference implementation of the normalisation. */
function reference(data: string, begun: Set<unknown>): JsonObject {
  const parsed = JSON.parse(data) as JsonObject
  const choices = parsed.choices as JsonObject[]
  parsed.model = 'mine'
  for (const { index, delta } of choices) {
    const own = delta as Record<string, JsonValue>
    if (!begun.has(index)) own.role ??= 'assistant'
    begun.add(index)
    const told = own.tool_calls as { index: number; type?: string }[] | undefined
    for (const call of told ?? []) {
      const name = `call ${index} ${call.index}`
      if (!begun.has(name)) call.type = 'function'
      begun.add(name)
    }
    const reasoning = own.reasoning_content ?? own.reasoning_text ?? null
    if (reasoning !== null && (own.reasoning ?? null) === null) own.reasoning = reasoning
  }
  parsed.object = 'chat.completion.chunk'
  const inChoice = choices.find((choice) => (choice.usage ?? null) !== null)?.usage
  if ((parsed.usage ?? null) === null && inChoice !== undefined) parsed.usage = inChoice
  return parsed
}

/** Random chunks as upstreams write them, similar and different ones. */
const content = fc.oneof(
  fc.string(),
  fc.constantFrom('"', '\\', '\n', '","model":"up"', '{"model":"up"}', '\u2028', '"}]}', 'ü🎈'),
)
const delta = fc.oneof(
  content.map((value) => ({ content: value })),
  content.map((value) => ({ role: 'assistant', content: value })),
  content.map((value) => ({ reasoning_content: value })),
  content.map((value) => ({ reasoning_text: value, content: null })),
  fc.tuple(fc.nat(2), content).map(([index, value]) => ({
    tool_calls: [{ index, function: { arguments: value } }],
  })),
  fc.constant({}),
)
const frame = fc
  .record({
    delta,
    index: fc.nat(1),
    model: fc.constantFrom('up', 'mine', 'up"x', 'ü'),
    usage: fc.constantFrom(undefined, null, counted),
    inChoice: fc.constantFrom(undefined, counted),
    spaced: fc.boolean(),
    created: fc.constantFrom(1, 1.5, 12345678901),
  })
  .map(({ delta, index, model, usage, inChoice, spaced, created }) => {
    const choice = { index, delta, finish_reason: null, ...(inChoice && { usage: inChoice }) }
    const body = {
      id: 'c',
      created,
      model,
      choices: [choice],
      ...(usage !== undefined && { usage }),
    }
    return spaced ? JSON.stringify(body, null, 1).replaceAll('\n', ' ') : JSON.stringify(body)
  })
/** Runs of similar chunks, which use the fast path. */
const alike = fc.tuple(frame, fc.array(content, { maxLength: 6 })).map(([first, contents]) => [
  first,
  ...contents.map((value) =>
    JSON.stringify({
      ...JSON.parse(first),
      choices: [{ index: 0, delta: { content: value }, finish_reason: null }],
    }),
  ),
])
/** Events without content for a caller, as upstreams and proxies send them. */
const harmless = [
  ...['{"type":"ping"}', '{"type":"heartbeat","message":"still here"}', '{}', '[]', 'null', '""'],
  ...['ping', ' heartbeat ', '"keep-alive"', '', ' '],
  ...['{"id":"x","object":"chat.completion.chunk"}', '{"id":"x","choices":null}', '{"error":null}'],
  ...[{ choices: [] }, { choices: [], usage: null }, { choices: [], usage: {} }, { error: {} }].map(
    chunk,
  ),
  ...[{ choices: {} }, { choices: '' }, { choices: [null] }, { choices: [{}] }].map(chunk),
]
  .map((data) => `data: ${data}\n\n`)
  .concat(
    ...[': comment\n\n', 'retry: 3000\n\n', 'id: 7\n\n', 'data\n\n', '\n', '\r\n', '\r\r'],
    ...[
      'event: ping\n\n',
      'event: ping\ndata: 2026-11-26 10:00:00\n\n',
      'event: ping\ndata: {}\n\n',
    ],
    ...['event: keepalive\r\ndata: {"type":"keepalive","sequence_number":7}\r\n\r\n'],
  )

test.each(harmless)('an event without anything for the caller is left out: %j', async (block) => {
  const stream = createChatStream({ publicModel: 'mine', native: true })
  const body = [`data: ${text('a')}\n\n`, block, `data: ${finish()}\n\n`].join('')
  const sent: StreamEvent[] = []
  for await (const batch of decodeSse(new Blob([body]).stream())) sent.push(...stream.push(batch))
  stream.end()
  expect(stream.outcome).toBe('complete')
  expect(sent.map((event) => (event.json() as JsonObject).choices)).toMatchObject([
    [{ delta: { content: 'a' } }],
    [{ finish_reason: 'stop' }],
  ])
})

const frames = fc.array(alike, { maxLength: 4 }).map((runs) => runs.flat())

/** Events to ignore, and before which events they come. */
const between = fc.array(fc.tuple(fc.nat(40), fc.constantFrom(...harmless)), { maxLength: 5 })

function amid(blocks: readonly string[], others: readonly (readonly [number, string])[]): string {
  const all = [...blocks]
  for (const [at, block] of others) all.splice(at % all.length, 0, block)
  return all.join('')
}

test('matches the reference for any chunks, chunked anywhere, with ignored events between them', async () => {
  await fc.assert(
    fc.asyncProperty(frames, fc.array(fc.nat(2000)), between, async (list, cuts, others) => {
      const own = [...list, finish(), finish('stop', 1), '[DONE]'].map((d) => `data: ${d}\n\n`)
      const bytes = utf8.encode(amid(own, others))
      async function* source() {
        let at = 0
        for (const cut of [...cuts.filter((c) => c < bytes.length), bytes.length].sort(
          (a, b) => a - b,
        )) {
          yield bytes.subarray(at, cut)
          at = cut
        }
      }
      const stream = createChatStream({ publicModel: 'mine', native: true })
      let sent = ''
      for await (const batch of decodeSse(source())) sent += sseText(stream.push(batch))
      stream.end()
      expect(stream.outcome).toBe('complete')
      const got = sent
        .split('\n\n')
        .slice(0, -1)
        .map((event) => JSON.parse(event.slice('data: '.length)))
      const begun = new Set<unknown>()
      const whole = [...list, finish(), finish('stop', 1)]
      expect(got).toEqual(whole.map((data) => reference(data, begun)))
    }),
    { numRuns: 600 },
  )
})

test('an error chunk has the message and the request id', () => {
  const failure = { code: 'upstream_transport', message: 'premature end: x', forwarded: false }
  const event = plainError(failure, 'r1').event
  expect(event).toStartWith('data: {"error":')
  expect(JSON.parse(event.slice(6)).error).toEqual({
    message: 'premature end: x',
    type: 'upstream_error',
    code: 'upstream_transport',
    param: null,
    request_id: 'r1',
  })
})
