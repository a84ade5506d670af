import { expect, test } from 'bun:test'
import type { JsonObject } from '../plugin/json.ts'
import { streamEvent } from '../plugin/stream.ts'
import { readInBandError } from './in-band-error.ts'

function read(data: string, path: readonly string[] = []) {
  const event = streamEvent(data)
  const owner = path.reduce((value, key) => value[key] as JsonObject, event.json() as JsonObject)
  const { event: forwarded, failure } = readInBandError(event, owner, path)
  return { event, forwarded, failure }
}

test.each([
  ['{"error":{"code":"busy","message":"m"}}', 'busy', 'm'],
  ['{"error":{"code":429,"message":"m"}}', '429', 'm'],
  ['{"type":"error","error":{"type":"overloaded_error","message":"m"}}', 'overloaded_error', 'm'],
  ['{"type":"error","code":"busy","message":"m"}', 'busy', 'm'],
  ['{"type":"error","message":"m"}', 'upstream_transport', 'm'],
  ['{"error":"m"}', 'upstream_transport', 'm'],
  [`{"error":{"code":"${'x'.repeat(65)}","message":"m"}}`, 'upstream_transport', 'm'],
  ['{"error":{"code":[]}}', 'upstream_transport', 'the upstream reported an error in its stream'],
])('%s says %s', (data, code, message) => {
  const { failure } = read(data)
  expect(failure).toMatchObject({ code, message, forwarded: true })
})

test('without a credential in it the event is the same object', () => {
  const { event, forwarded } = read('{ "error" : {"message":"m", "id": 12345678901234567890} }')
  expect(forwarded).toBe(event)
})

test('credentials are masked anywhere in the error, and nothing else changes', () => {
  const key = 'sk-abcdefgh12345678'
  const error = { message: `bad key ${key}`, metadata: { raw: [`x ${key}`] } }
  const top = read(`{"id":12345678901234567890,"error":${JSON.stringify(error)}}`)
  expect(top.forwarded.data).toBe(
    '{"id":12345678901234567890,"error":{"message":"bad key [redacted]","metadata":{"raw":["x [redacted]"]}}}',
  )
  expect(top.failure.message).toBe('bad key [redacted]')

  const nested = read(`{"response":{"a":"${key}","error":{"message":"${key}"}}}`, ['response'])
  expect(nested.forwarded.data).toBe(`{"response":{"a":"${key}","error":{"message":"[redacted]"}}}`)

  const flat = read(`{"type":"error","message":"${key}"}`)
  expect(flat.forwarded.data).toBe('{"type":"error","message":"[redacted]"}')
})
