import { expect, test } from 'bun:test'
import { streamEvent } from '../plugin/stream.ts'
import { withData } from './dialect-stream.ts'
import { chatDialect, responsesDialect } from './dialects.ts'

test.each([
  ['data:{"a":1}\n\n', 'data:{"b":2}\n\n'],
  ['data: {"a":1}\r\n\r\n', 'data: {"b":2}\r\n\r\n'],
  ['event: x\ndata: {"a":1}\n\n', 'data: {"b":2}\n\n'],
])('the text of an event with other data: %j becomes %j', (raw, changed) => {
  expect(withData(streamEvent('{"a":1}', undefined, raw), '{"b":2}').raw).toBe(changed)
})

test.each([
  ['chat_completions', chatDialect.streaming.open],
  ['responses', responsesDialect.streaming.open],
] as const)('nothing is kept of ten thousand unknown events: %s', (_, open) => {
  const stream = open({ publicModel: 'mine', native: true })
  const push = (n: number) =>
    stream.push([
      streamEvent(JSON.stringify({ type: `unknown_${n}`, more: [n, 'x'.repeat(4000)] })),
      streamEvent(JSON.stringify({ type: 'response.unknown', id: n, text: 'x'.repeat(4000) })),
    ])
  push(0)
  Bun.gc(true)
  const before = process.memoryUsage().heapUsed
  for (let n = 1; n <= 5000; n++) push(n)
  Bun.gc(true)
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(4_000_000)
  expect(stream.outcome).toBe('open')
})
