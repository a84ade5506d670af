import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { eventsOf } from './call.ts'
import { bodyOf, usual } from './form.ts'

async function read(pieces: readonly Uint8Array<ArrayBuffer>[]): Promise<unknown[]> {
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    },
  })
  const events: unknown[] = []
  for await (const event of eventsOf({ body })) events.push(event)
  return events
}

test('events do not depend on how the network splits them', async () => {
  const text =
    'event: a\ndata: {"text":"höflich 模型"}\n\n: comment\n\ndata: plain\r\n\r\ndata: {"n":1}\n\ndata: [DONE]\n\n'
  const bytes = new TextEncoder().encode(text)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 }), async (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
      const pieces = at.slice(1).map((end, n) => bytes.slice(at[n], end))
      expect(await read(pieces)).toEqual([{ text: 'höflich 模型' }, 'plain', { n: 1 }])
    }),
  )
})

test('each API has its own body, without empty fields', () => {
  const form = {
    ...usual,
    model: 'm',
    system: 's',
    messages: [{ role: 'user', content: 'u' }],
  } as const
  expect(bodyOf({ ...form, surface: 'chat_completions', maxTokens: '5' })).toEqual({
    model: 'm',
    messages: [
      { role: 'system', content: 's' },
      { role: 'user', content: 'u' },
    ],
    max_tokens: 5,
    stream: true,
    stream_options: { include_usage: true },
  })
  expect(bodyOf({ ...form, surface: 'responses', temperature: '0.2', stream: false })).toEqual({
    model: 'm',
    instructions: 's',
    input: [{ role: 'user', content: 'u' }],
    temperature: 0.2,
    stream: false,
  })
  expect(bodyOf({ ...form, surface: 'messages', system: '' })).toEqual({
    model: 'm',
    messages: [{ role: 'user', content: 'u' }],
    max_tokens: 1024,
    stream: true,
  })
})
