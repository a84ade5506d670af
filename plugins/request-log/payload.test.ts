import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { SentResponse } from 'model-gateway/observer'
import type { JsonValue } from 'model-gateway/plugin'
import { type StreamEvent, streamEvent } from 'model-gateway/wire'
import { measure } from '../_shared/measure.ts'
import { nameKind } from '../_shared/sensitive-names.ts'
import { finish, payloadRow, payloadText, policy } from './testing.ts'

const CANARY = 'CANARYsecret42'

describe('wrapping', () => {
  test('a request has headers and body, a response body', () => {
    const row = payloadRow({
      headers: { 'content-type': 'application/json' },
      body: { model: 'fast' },
      response: { kind: 'buffered', body: { id: 'x' } },
    })
    expect(row).toEqual({
      request: { headers: { 'content-type': 'application/json' }, body: { model: 'fast' } },
      response: { body: { id: 'x' } },
      request_truncated: false,
      response_truncated: false,
    })
  })

  test('a body that could not be read is null', () => {
    expect(payloadRow({ body: undefined }).request).toEqual({ headers: {}, body: null })
  })

  test('a stream has its events, its usage and its error', () => {
    const usage = {
      uncachedInput: 3,
      cacheRead: undefined,
      cacheWrite: undefined,
      output: 5,
      reasoning: 0,
      promptTokens: 3,
      totalTokens: 8,
    }
    const events = [streamEvent('{"n":1}'), streamEvent('[DONE]'), streamEvent('{broken')]
    const response: SentResponse = {
      kind: 'stream',
      events,
      eventCount: 3,
      error: { code: 'overloaded', message: `failed with Bearer ${CANARY}` },
    }
    expect(payloadRow({ response, usage })).toMatchObject({
      response: {
        stream: true,
        events: [{ n: 1 }, '[DONE]', '{broken'],
        usage: {
          prompt_tokens: 3,
          completion_tokens: 5,
          total_tokens: 8,
          cache_read_tokens: null,
          cache_write_tokens: null,
          reasoning_tokens: 0,
        },
        error: { code: 'overloaded', message: 'failed with [redacted]' },
      },
      response_truncated: false,
    })
    expect(payloadRow({ response: { ...response, error: undefined } }).response).toMatchObject({
      usage: null,
      error: null,
    })
  })
})

describe('headers', () => {
  test('are redacted if they can contain a secret', () => {
    const secret = [
      'authorization',
      'cookie',
      'set-cookie',
      'x-api-key',
      'anthropic-api-key',
      'x-goog-api-key',
      'proxy-authorization',
      'x-gateway-api-key',
      'x-auth-token',
    ]
    const headers = Object.fromEntries(secret.map((name) => [name, CANARY]))
    const row = payloadRow({ headers: { ...headers, accept: '*/*', referer: `/?sig=${CANARY}` } })
    expect(row.request.headers).toEqual({
      ...Object.fromEntries(secret.map((name) => [name, '[redacted]'])),
      accept: '*/*',
      referer: '/?sig=[redacted]',
    })
  })
})

describe('streams', () => {
  const stream = (events: readonly StreamEvent[], eventCount = events.length): SentResponse => ({
    kind: 'stream',
    events,
    eventCount,
    error: undefined,
  })

  test('beyond stream_max_events are truncated', () => {
    const events = Array.from({ length: 10 }, (_, n) => streamEvent(`{"n":${n}}`))
    const by = policy({ stream_max_events: 8 })
    const cut = payloadRow({ response: stream(events) }, by)
    expect(cut.response.events).toHaveLength(8)
    expect(cut.response_truncated).toBe(true)
    expect(payloadRow({ response: stream(events.slice(0, 8), 500) }, by)).toMatchObject({
      response_truncated: true,
    })
    expect(payloadRow({ response: stream(events.slice(0, 8)) }, by)).toMatchObject({
      response_truncated: false,
    })
  })

  test('show no secret that spans events', () => {
    const json = JSON.stringify({ city: 'Oslo', api_key: `${CANARY}${CANARY}` })
    const chat = (delta: JsonValue) =>
      JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })
    const shapes: ((piece: string, n: number) => string)[] = [
      (content) => chat({ content }),
      (text) => chat({ tool_calls: [{ index: 0, function: { arguments: text } }] }),
      (delta, n) =>
        JSON.stringify({
          type: 'response.function_call_arguments.delta',
          item_id: 'a',
          delta,
          sequence_number: n,
        }),
      (text) => JSON.stringify({ index: 1, delta: { type: 'input_json_delta', text } }),
    ]
    fc.assert(
      fc.property(
        fc.constantFrom(...shapes),
        fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 1 }),
        (shape, lengths) => {
          const pieces: string[] = []
          for (let at = 0; at < json.length; ) {
            const length = lengths[pieces.length % lengths.length] as number
            pieces.push(json.slice(at, at + length))
            at += length
          }
          const events = pieces.map((piece, n) => streamEvent(shape(piece, n)))
          const data = events.map((event) => event.data)
          const row = payloadText({ response: stream(events) })
          for (const part of pieces) {
            if (part.length > 3 && CANARY.includes(part)) expect(row).not.toContain(part)
          }
          expect(row).not.toContain(CANARY)
          expect(row).toContain('[redacted]')
          expect(events.map((event) => event.data)).toEqual(data)
        },
      ),
    )
  })

  test('of several concurrent tool calls are joined per call', () => {
    const piece = (index: number, text: string) =>
      streamEvent(
        JSON.stringify({
          choices: [
            { index: 0, delta: { tool_calls: [{ index, function: { arguments: text } }] } },
          ],
        }),
      )
    const events = [
      piece(0, '{"token":"'),
      piece(1, '{"city":"'),
      piece(0, CANARY),
      piece(1, 'Oslo'),
      piece(0, '"}'),
      piece(1, '"}'),
    ]
    const row = payloadText({ response: stream(events) })
    expect(row).not.toContain(CANARY)
    expect(row).toContain('Oslo')
  })
})

describe('the byte limit', () => {
  test('leaves the size and a preview', () => {
    const body = { messages: [{ role: 'user', content: 'größer '.repeat(2_000) }] }
    const row = payloadRow({ body }, policy({ request_max_bytes: 1_000 }))
    expect(row.request_truncated).toBe(true)
    expect(row.response_truncated).toBe(false)
    expect(row.request).toMatchObject({
      truncated: true,
      size_bytes: Buffer.byteLength(JSON.stringify({ headers: {}, body })),
    })
    expect(row.request.preview).toStartWith('{"headers":{},"body":{"messages":[{"role":"user"')
    const bytes = Buffer.byteLength(JSON.stringify(row.request))
    expect(bytes).toBeGreaterThan(900)
    expect(bytes).toBeLessThanOrEqual(1_000)
  })

  test('uses the content-length of a request as its size', () => {
    const body = { input: 'x'.repeat(2_000) }
    const headers = { 'content-length': '2345' }
    const row = payloadRow({ body, headers }, policy({ request_max_bytes: 1_000 }))
    const around = Buffer.byteLength(JSON.stringify({ headers, body: 0 })) - 1
    expect(row.request.size_bytes).toBe(2_345 + around)
  })

  test('uses the number of sent bytes as the size of a reply', () => {
    const body = { output: 'x'.repeat(2_000) }
    const by = policy({ response_max_bytes: 1_000 })
    const row = payloadRow({ response: { kind: 'buffered', body, bytes: 2_345 } }, by)
    expect(row.response.size_bytes).toBe(2_345 + Buffer.byteLength('{"body":}'))
  })

  test('applies to every payload, and is not stricter than configured', () => {
    fc.assert(
      fc.property(
        fc.json().map((text) => ({ body: JSON.parse(text) as JsonValue })),
        fc.integer({ min: 100, max: 400 }),
        (body, limit) => {
          // A redacted value has a different length.
          JSON.stringify(body, (name, value) => {
            fc.pre(nameKind(name) === 'plain')
            return value
          })
          const by = policy({ response_max_bytes: limit })
          const row = payloadRow({ response: { kind: 'buffered', body } }, by)
          const whole = JSON.stringify({ body })
          expect(row.response_truncated).toBe(Buffer.byteLength(whole) > limit)
          if (!row.response_truncated) return expect(JSON.stringify(row.response)).toBe(whole)
          expect(Buffer.byteLength(JSON.stringify(row.response))).toBeLessThanOrEqual(limit)
          expect(row.response.size_bytes).toBe(Buffer.byteLength(whole))
        },
      ),
      { numRuns: 500 },
    )
  })

  test('comes after redaction: the preview has no secret', () => {
    const by = policy({ request_max_bytes: 200 })
    const body = { a: { password: CANARY }, b: `Bearer ${CANARY}`, c: 'x'.repeat(500) }
    const { request } = payloadRow({ body }, by)
    expect(request.preview).toContain('[redacted]')
    expect(request.preview).not.toContain(CANARY)
  })

  test('comes after the truncation of bulky fields', () => {
    const url = `data:image/png;base64,${'A'.repeat(1_000_000)}`
    const body = { messages: [{ content: [{ type: 'image_url', image_url: { url } }] }] }
    const row = payloadRow({ body })
    expect(row.request_truncated).toBe(false)
    expect(row.request.body).toEqual({
      messages: [
        {
          content: [
            { type: 'image_url', image_url: { url: { truncated: true, size_bytes: url.length } } },
          ],
        },
      ],
    })
  })
})

test('text that Postgres cannot store is removed', () => {
  const body = { 'a\0b': 'c\0d \ud83d \\u0000 😀', e: '\\\0' }
  expect(payloadRow({ body }).request.body).toEqual({
    ab: 'cd \ufffd \\u0000 😀',
    e: '\\',
  })
})

describe('measuring', () => {
  test('is exact', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value = JSON.parse(text) as JsonValue
        expect(finish(measure(value)).value).toBe(Buffer.byteLength(JSON.stringify(value)))
      }),
    )
  })

  test('yields within long steps', () => {
    const numbers = Array.from({ length: 100_000 }, (_, n) => n / 7)
    const text = 'ä"'.repeat(1_000_000)
    const value = { numbers, text }
    const { value: bytes, pauses } = finish(measure(value))
    expect(bytes).toBe(Buffer.byteLength(JSON.stringify(value)))
    expect(pauses).toBeGreaterThan(50)
  })
})
