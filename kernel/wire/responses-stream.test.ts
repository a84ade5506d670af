import { describe, expect, test } from 'bun:test'
import { responseFrames } from '../../test/harness/upstream-families.ts'
import type { JsonObject } from '../plugin/json.ts'
import { streamEvent } from '../plugin/stream.ts'
import { sseText } from './dialect-stream.ts'
import { createResponsesStream } from './responses-stream.ts'
import { decodeSse } from './sse.ts'

const event = (type: string, more: JsonObject = {}, name = type) =>
  streamEvent(JSON.stringify({ type, sequence_number: 1, ...more }), name)
const response = (status: string, more: JsonObject = {}) => ({
  response: { id: 'r', model: 'up', status, ...more },
})
const counted = { input_tokens: 4, output_tokens: 6, total_tokens: 10 }

function run(...events: ReturnType<typeof event>[]) {
  const stream = createResponsesStream({ publicModel: 'mine' })
  const sent = events.flatMap((item) => stream.push([item]))
  stream.end()
  return { stream, sent }
}

describe('a responses stream', () => {
  test('of a real grammar keeps names and JSON; only response.model changes', async () => {
    const frames = responseFrames({ model: 'asked', stream: true })
    async function* bytes() {
      for (const frame of frames) yield new TextEncoder().encode(frame)
    }
    const stream = createResponsesStream({ publicModel: 'mine' })
    let sent = ''
    for await (const batch of decodeSse(bytes())) sent += sseText(stream.push(batch))
    stream.end()
    expect(stream.outcome).toBe('complete')
    expect(stream.usage?.output).toBeNumber()
    const whole = sent + sseText(stream.terminal)
    expect(whole.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(whole.match(/\[DONE\]/g)).toHaveLength(1)
    const upstream = frames.join('').replaceAll('"model":"asked-2026-08-06"', '"model":"mine"')
    expect(whole.replace('data: [DONE]\n\n', '')).toBe(upstream.replace('data: [DONE]\n\n', ''))
  })

  test('holds its terminal event back, with its [DONE]', () => {
    const { stream, sent } = run(
      event('response.created', response('in_progress')),
      event('response.completed', response('completed', { usage: counted })),
    )
    expect(sent.map((item) => item.event)).toEqual(['response.created'])
    expect(stream.terminal.map((item) => item.event ?? item.data)).toEqual([
      'response.completed',
      '[DONE]',
    ])
    expect(stream.usage).toMatchObject({ uncachedInput: 4, output: 6 })
  })

  test('may end incomplete', () => {
    const { stream } = run(event('response.incomplete', response('incomplete', { usage: counted })))
    expect(stream).toMatchObject({ outcome: 'complete' })
  })

  test.each([
    [
      'response.failed',
      event(
        'response.failed',
        response('failed', { error: { code: 'server_error', message: 'no' } }),
      ),
      'server_error',
    ],
    ['error', event('error', { code: 'rate_limit', message: 'slow' }), 'rate_limit'],
  ])('%s is forwarded and ends it', (_, failed, code) => {
    const { stream, sent } = run(event('response.created', response('in_progress')), failed)
    expect(sent).toHaveLength(2)
    expect(stream.failure).toMatchObject({ code, forwarded: true })
    expect(stream.terminal).toEqual([])
  })

  test('takes the type from the event’s name if its data has none', () => {
    const data = JSON.stringify(response('completed'))
    expect(run(streamEvent(data, 'response.completed')).stream.outcome).toBe('complete')
    const other = event('response.completed', response('completed'), 'message')
    expect(run(other).stream.outcome).toBe('complete')
  })

  test('ends with an error of the upstream, whatever its type is', () => {
    const { stream } = run(event('response.created', { error: { code: 'busy', message: 'no' } }))
    expect(stream.failure).toEqual({ code: 'busy', message: 'no', forwarded: true })
  })

  describe('that reports an error', () => {
    const begun = event('response.created', response('in_progress'))
    const error = event('error', { code: 'busy', message: 'no' })
    const failed = event('response.failed', response('failed', { usage: counted, error: {} }))
    const reported = { code: 'busy', message: 'no', forwarded: true }

    test('may fail directly after it', () => {
      const { stream, sent } = run(begun, error, failed, begun)
      expect(sent.map((item) => item.event)).toEqual([
        'response.created',
        'error',
        'response.failed',
      ])
      expect(sent.at(-1)?.json()).toMatchObject({ response: { model: 'mine' } })
      expect(stream).toMatchObject({ outcome: 'failed', failure: reported, terminal: [] })
      expect(stream.usage).toMatchObject({ output: 6 })
    })

    test.each([
      ['another event', begun],
      ['a terminal event', event('response.completed', response('completed'))],
      ['a failure without a response', event('response.failed')],
      ['its [DONE]', streamEvent('[DONE]')],
      ['no JSON', streamEvent('x')],
    ])('ends where %s follows', (_, other) => {
      const { stream, sent } = run(begun, error, other, failed)
      expect(sent.map((item) => item.event)).toEqual(['response.created', 'error'])
      expect(stream).toMatchObject({ outcome: 'failed', failure: reported, terminal: [] })
    })

    test('reports it before it ends', () => {
      const stream = createResponsesStream({ publicModel: 'mine' })
      expect(stream.push([begun, error])).toHaveLength(2)
      expect(stream).toMatchObject({ outcome: 'open', failure: reported })
    })
  })

  test('that failed has its reported usage, and the public model', () => {
    const { stream, sent } = run(
      event('response.failed', response('failed', { usage: counted, error: { message: 'no' } })),
    )
    expect(stream.usage).toMatchObject({ output: 6 })
    expect(sent[0]?.json()).toMatchObject({ response: { model: 'mine' } })
  })

  test.each([
    ['a chat chunk', streamEvent('{"choices":[{"index":0,"delta":{}}]}')],
    ['no JSON', streamEvent('x', 'response.created')],
    ['half of an object', streamEvent('{"type":"response.comp', 'response.completed')],
    ['a JSON array', streamEvent('[1]')],
  ])('%s is a protocol error', (_, wrong) => {
    const { stream } = run(event('response.created', response('in_progress')), wrong)
    expect(stream.failure).toMatchObject({ code: 'upstream_transport', forwarded: false })
    expect(stream.failure?.message).toContain('malformed event')
  })

  describe('ends according to its status, whatever the type of its last event', () => {
    test.each([
      ['response.completed', 'incomplete', 'incomplete'],
      ['response.incomplete', 'completed', 'completed'],
      ['response.done', 'completed', 'completed'],
      ['response.done', 'incomplete', 'incomplete'],
      ['response.finished', 'completed', 'completed'],
      // A name that says it ended, and a status that does not.
      ['response.completed', 'in_progress', 'completed'],
      ['response.incomplete', 'queued', 'incomplete'],
      ['response.completed', null, 'completed'],
      ['response.done', '', 'completed'],
    ])('%s with the status %j: %s', (name, status, end) => {
      const begun = event('response.created', response('in_progress'))
      const { stream, sent } = run(
        begun,
        event(name, response(status as string, { usage: counted })),
      )
      expect(sent).toHaveLength(1)
      expect(stream).toMatchObject({ outcome: 'complete', usage: { output: 6 } })
      const [last, done] = stream.terminal
      expect(last?.event).toBe(`response.${end}`)
      expect(last?.json()).toMatchObject({
        type: `response.${end}`,
        response: { status: end, usage: counted },
      })
      expect(done?.data).toBe('[DONE]')
    })

    test.each([
      ['response.completed', 'failed', 'failed'],
      ['response.completed', 'cancelled', 'cancelled'],
      ['response.cancelled', 'cancelled', 'cancelled'],
      ['response.canceled', 'canceled', 'cancelled'],
      ['response.cancelled', null, 'cancelled'],
      ['response.done', 'failed', 'failed'],
      ['response.failed', null, 'failed'],
    ])('%s with the status %j: %s, without [DONE]', (name, status, end) => {
      const { stream, sent } = run(event(name, response(status as string, { usage: counted })))
      expect(sent.map((each) => each.event)).toEqual([`response.${end}`])
      expect(sent[0]?.json()).toMatchObject({ response: { status: end } })
      expect(stream).toMatchObject({ outcome: 'failed', terminal: [], usage: { output: 6 } })
      expect(stream.failure?.forwarded).toBe(true)
    })

    test('a reason instead of a status', () => {
      const why = { usage: counted, incomplete_details: { reason: 'max_output_tokens' } }
      const { stream } = run(event('response.done', { response: why }))
      expect(stream.terminal[0]?.event).toBe('response.incomplete')
      const failed = run(
        event('response.done', { response: { error: { code: 'x', message: 'y' } } }),
      )
      expect(failed.stream.failure).toEqual({ code: 'x', message: 'y', forwarded: true })
    })

    test('a status in the first event is not its end', () => {
      const { stream } = run(
        event('response.created', response('completed')),
        event('response.in_progress', response('completed')),
      )
      expect(stream.failure?.message).toContain('premature end')
    })

    test('a last event without its response gets the streamed content', () => {
      const item = { id: 'm', type: 'message', role: 'assistant', status: 'completed', content: [] }
      const { stream } = run(
        event('response.created', { response: { id: 'r', created_at: 5, model: 'up' } }),
        event('response.output_item.done', { output_index: 0, item }),
        event('response.completed', { response: null }),
      )
      expect(stream.terminal[0]?.json()).toMatchObject({
        response: {
          ...{ id: 'r', object: 'response', created_at: 5, model: 'mine', status: 'completed' },
          output: [item],
        },
      })
    })
  })

  test('adds members that clients expect in each event', () => {
    const bare = (type: string, more: JsonObject = {}) =>
      streamEvent(JSON.stringify({ type, ...more }))
    const { sent, stream } = run(
      bare('response.created', { response: {} }),
      streamEvent('{"response":{"id":"r","created_at":5}}', 'response.in_progress'),
      bare('response.output_item.added', { output_index: 0, item: { type: 'message' } }),
      ...['a', 'b', 'c'].map((delta) => bare('response.output_text.delta', { delta })),
      bare('response.output_item.done', {
        ...{ output_index: 1, item: { type: 'function_call', name: 'f', arguments: { a: 1 } } },
      }),
      bare('ping'),
      bare('response.completed', { response: { status: 'completed' } }),
    )
    const all = [...sent, ...stream.terminal.slice(0, 1)].map((each) => each.json() as JsonObject)
    expect(all.map(({ sequence_number }) => sequence_number)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
    expect(all[1]?.type).toBe('response.in_progress')
    expect(all[2]?.item).toEqual({
      ...{ id: 'item_0', type: 'message', role: 'assistant', status: 'in_progress', content: [] },
    })
    const call = { type: 'function_call', name: 'f', arguments: '{"a":1}', status: 'completed' }
    const whole = { ...call, id: 'item_1', call_id: 'item_1' }
    expect(all[6]?.item).toEqual(whole)
    expect(all[8]?.response).toEqual({
      ...{ id: 'r', object: 'response', created_at: 5, model: 'mine', status: 'completed' },
      output: [whole],
    })
    expect(stream.nextNumber).toBe(9)
  })

  test('continues the numbering where its upstream stops', () => {
    const delta = (text: string, more: JsonObject) =>
      streamEvent(JSON.stringify({ type: 'response.output_text.delta', delta: text, ...more }))
    const { sent, stream } = run(
      ...[7, 8, 9].map((sequence_number) => delta('a', { sequence_number })),
      delta('b', {}),
      delta('c', {}),
      streamEvent('{"error":{"message":"no","code":"busy"}}'),
    )
    expect(sent.map((each) => (each.json() as JsonObject).sequence_number)).toEqual([
      ...[7, 8, 9, 10, 11, 12],
    ])
    expect(sent.at(-1)?.json()).toMatchObject({ type: 'error', code: 'busy', message: 'no' })
    expect(stream.nextNumber).toBe(13)
  })

  test.each([
    ...['{}', 'null', '[]', '""', 'ping', '{"choices":[]}', '{"response":{}}', '{"error":{}}'],
  ])('an event without anything in it is left out: %s', (data) => {
    const { stream, sent } = run(
      event('response.created', response('in_progress')),
      streamEvent(data),
      event('response.completed', response('completed')),
    )
    expect(sent).toHaveLength(1)
    expect(stream.outcome).toBe('complete')
  })

  test.each(['message', 'Message'])(
    'reports the message of an object without a type: %s',
    (name) => {
      const stray = streamEvent(JSON.stringify({ [name]: 'Too many requests.' }))
      const { stream, sent } = run(event('response.created', response('in_progress')), stray)
      expect(sent).toHaveLength(1)
      expect(stream.failure).toEqual({
        code: 'upstream_transport',
        message: 'malformed event: it has no type, but says: Too many requests.',
        forwarded: false,
      })
    },
  )

  test('without its terminal event is an error, with the [DONE] of the upstream too', () => {
    const begun = event('response.created', response('in_progress'))
    expect(run(begun).stream.failure?.message).toContain('premature end')
    expect(run(begun, streamEvent('[DONE]')).stream.failure?.message).toContain('premature end')
    expect(run(begun, streamEvent(' [DONE] ')).stream.failure?.message).toContain('premature end')
    expect(run().stream.failure?.message).toContain('empty stream')
  })

  test('counts tool calls that it only tells the end of, and those without an id', () => {
    const item = (output_index: number) => ({ item: { type: 'function_call' }, output_index })
    const { stream } = run(
      event('response.output_item.done', item(0)),
      event('response.output_item.added', item(1)),
      event('response.output_item.done', item(1)),
    )
    expect(stream.invokedToolCount).toBe(2)
  })

  test('passes unknown types on unread, and counts each tool call once', () => {
    const item = (type: string, id: string) => ({ item: { type, id }, output_index: 0 })
    const { stream, sent } = run(
      event('response.something_new', { x: 1 }),
      event('response.output_item.added', item('function_call', 'a')),
      event('response.output_item.done', item('function_call', 'a')),
      event('response.output_item.added', item('web_search_call', 'b')),
      event('response.output_item.added', item('message', 'c')),
      event('response.completed', response('completed')),
    )
    expect(sent).toHaveLength(5)
    expect(stream.invokedToolCount).toBe(2)
  })
})
