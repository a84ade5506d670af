import { expect, test } from 'bun:test'
import type { JsonValue } from 'model-gateway/plugin'
import { type StreamEvent, streamEvent } from 'model-gateway/wire'
import { createRedact, redactErrorEvents, redactErrors } from './redact.ts'

const redact = createRedact(['Bearer odd/"token"'])

test('credentials are masked in every form', () => {
  expect(redact('sent {"authorization":"Bearer odd\\/\\"token\\""}')).toBe(
    'sent {"authorization":"[redacted]"}',
  )
})

test('configured headers with a credential’s name are masked', () => {
  const configured = { 'api-key': 'odd-key', 'x-team': 'team-1', authorization: 'Bearer odd-token' }
  expect(createRedact([], configured)('odd-key of team-1, odd-token')).toBe(
    '[redacted] of team-1, [redacted]',
  )
})

const bad = 'bad odd/"token"'

test.each<[JsonValue, JsonValue]>([
  [{ error: bad }, { error: 'bad [redacted]' }],
  [
    { error: { message: bad, raw: [bad] } },
    { error: { message: 'bad [redacted]', raw: ['bad [redacted]'] } },
  ],
  [
    { choices: [{ error: { message: bad } }] },
    { choices: [{ error: { message: 'bad [redacted]' } }] },
  ],
  [
    { type: 'error', message: bad },
    { type: 'error', message: 'bad [redacted]' },
  ],
])('the error in %j', (value, safe) => {
  expect(redactErrors(value, redact)).toEqual(safe)
})

test('reply texts, and errors without a credential, are unchanged', () => {
  const body = { choices: [{ message: { content: bad } }], error: { message: 'busy', at: null } }
  expect(redactErrors(body, redact)).toBe(body)
})

async function through(...events: readonly StreamEvent[]) {
  async function* source() {
    yield events
  }
  const out: StreamEvent[] = []
  for await (const batch of redactErrorEvents(source(), redact)) out.push(...batch)
  return out
}

test('only error events that repeat a credential are copied', async () => {
  const kept = [
    streamEvent(JSON.stringify({ choices: [{ delta: { content: `"error" ${bad}` } }] })),
    streamEvent('{"error":null,"choices":[]}'),
    streamEvent('not JSON, but "error"'),
    streamEvent('[DONE]'),
  ]
  const failed = { type: 'response.failed', response: { error: { code: 'x', message: bad } } }
  const events = await through(
    ...kept,
    streamEvent(JSON.stringify(failed), 'response.failed'),
    streamEvent(JSON.stringify({ message: bad }), 'error'),
    streamEvent(JSON.stringify({ message: bad })),
    streamEvent(JSON.stringify({ code: 'x', message: bad }), 'error'),
  )
  for (const [index, event] of kept.entries()) expect(events[index]).toBe(event)
  expect(events[4]?.json()).toEqual({
    type: 'response.failed',
    response: { error: { code: 'x', message: 'bad [redacted]' } },
  })
  expect(events[4]?.event).toBe('response.failed')
  expect(events[5]?.json()).toEqual({ message: 'bad [redacted]' })
  expect(events[6]?.json()).toEqual({ message: 'bad [redacted]' })
  expect(events[7]?.json()).toEqual({ code: 'x', message: 'bad [redacted]' })
  expect(events[7]?.event).toBe('error')
})

test('returning early cancels the source', async () => {
  let left = false
  async function* source() {
    try {
      yield [streamEvent('{}')]
      yield [streamEvent('{}')]
    } finally {
      left = true
    }
  }
  for await (const _ of redactErrorEvents(source(), redact)) break
  expect(left).toBe(true)
})
