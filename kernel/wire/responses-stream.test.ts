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

  test('has the type that the event’s name says where its data says none', () => {
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

    test('may fail right behind it', () => {
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

    test('says so before it ends', () => {
      const stream = createResponsesStream({ publicModel: 'mine' })
      expect(stream.push([begun, error])).toHaveLength(2)
      expect(stream).toMatchObject({ outcome: 'open', failure: reported })
    })
  })

  test('that failed has used what it says, and the public model', () => {
    const { stream, sent } = run(
      event('response.failed', response('failed', { usage: counted, error: { message: 'no' } })),
    )
    expect(stream.usage).toMatchObject({ output: 6 })
    expect(sent[0]?.json()).toMatchObject({ response: { model: 'mine' } })
  })

  test('whose end is malformed has used what it says all the same', () => {
    const { stream } = run(event('response.completed', response('queued', { usage: counted })))
    expect(stream.failure?.message).toContain('malformed event')
    expect(stream.usage).toMatchObject({ output: 6 })
  })

  test.each([
    ['a chat chunk', streamEvent('{"choices":[]}')],
    ['a name that differs from its type', event('response.created', {}, 'response.completed')],
    ['a terminal event with another status', event('response.completed', response('in_progress'))],
    ['a terminal event without a response', event('response.completed')],
    ['a failure without a response', event('response.failed')],
    ['no JSON', streamEvent('x', 'response.created')],
    ['a JSON array', streamEvent('[1]')],
  ])('%s is a protocol error', (_, wrong) => {
    const { stream } = run(event('response.created', response('in_progress')), wrong)
    expect(stream.failure).toMatchObject({ code: 'upstream_transport', forwarded: false })
    expect(stream.failure?.message).toContain('malformed event')
  })

  test.each(['message', 'Message'])('tells what an object without a type says: %s', (name) => {
    const stray = streamEvent(JSON.stringify({ [name]: 'Too many requests.' }))
    const { stream, sent } = run(event('response.created', response('in_progress')), stray)
    expect(sent).toHaveLength(1)
    expect(stream.failure).toEqual({
      code: 'upstream_transport',
      message: 'malformed event: it has no type, but says: Too many requests.',
      forwarded: false,
    })
  })

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
