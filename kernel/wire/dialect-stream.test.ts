import { expect, test } from 'bun:test'
import { streamEvent } from '../plugin/stream.ts'
import { withData } from './dialect-stream.ts'

test.each([
  ['data:{"a":1}\n\n', 'data:{"b":2}\n\n'],
  ['data: {"a":1}\r\n\r\n', 'data: {"b":2}\r\n\r\n'],
  ['event: x\ndata: {"a":1}\n\n', 'data: {"b":2}\n\n'],
])('the text of an event with other data: %j becomes %j', (raw, changed) => {
  expect(withData(streamEvent('{"a":1}', undefined, raw), '{"b":2}').raw).toBe(changed)
})
