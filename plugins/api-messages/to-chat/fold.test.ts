import { expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import type { JsonObject } from 'model-gateway/plugin'
import {
  createChatStream,
  decodeSse,
  readChatReply,
  type StreamEvent,
  streamEvent,
} from 'model-gateway/wire'
import { sseText } from '../../../kernel/wire/dialect-stream.ts'
import {
  bufferedChat,
  callChunks,
  calls,
  chatChunks,
  chatSse,
  chunkOf,
  cutAnywhere,
  foldMessages,
  grammarFault,
  pieces,
  received,
  said,
} from './__fixtures__/messages.ts'
import { messagesReply } from './reply.ts'
import { createMessagesStream } from './stream.ts'

const identity = { publicModel: 'mine', requestId: 'r1' }
const cuts = fc.array(fc.nat(6000), { maxLength: 40 })

/** All events of a stream that an upstream sends as this text, in these chunks. */
async function convert(text: string, at: readonly number[]) {
  const stream = createMessagesStream(
    createChatStream({ publicModel: 'mine', native: true }),
    identity,
  )
  const events: StreamEvent[] = []
  for await (const batch of decodeSse(cutAnywhere(text, at))) events.push(...stream.push(batch))
  stream.end()
  return { stream, events: [...events, ...stream.terminal] }
}

function streamOf(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
}

/** What the official client makes of an event stream that arrives in these chunks. */
async function finalMessage(text: string, at: readonly number[]): Promise<JsonObject> {
  const client = new Anthropic({
    apiKey: 'k',
    baseURL: 'http://localhost:1',
    maxRetries: 0,
    fetch: async () =>
      new Response(streamOf(cutAnywhere(text, at)), {
        headers: { 'content-type': 'text/event-stream' },
      }),
  })
  const stream = client.messages.stream({
    model: 'mine',
    max_tokens: 1,
    messages: [{ role: 'user', content: 'x' }],
  })
  return received(await stream.finalMessage())
}

test('a stream, cut anywhere and folded, is the converted buffered reply', async () => {
  await fc.assert(
    fc.asyncProperty(said, fc.integer({ min: 1, max: 5 }), cuts, async (reply, size, at) => {
      const { stream, events } = await convert(chatSse(chatChunks(reply, size)), at)
      const chat = bufferedChat(reply)
      const facts = readChatReply(chat)
      expect(stream.outcome).toBe('complete')
      expect(grammarFault(events, 'complete')).toBeUndefined()
      expect(foldMessages(events)).toEqual(received(messagesReply(chat, facts.usage, identity)))
      expect(stream.usage).toEqual(facts.usage)
      expect(stream.invokedToolCount).toBe(facts.invokedToolCount ?? -1)
    }),
    { numRuns: 1000 },
  )
})

test('the official stream helper makes the converted buffered reply of it', async () => {
  await fc.assert(
    fc.asyncProperty(
      said,
      fc.integer({ min: 1, max: 5 }),
      cuts,
      cuts,
      async (reply, size, upstreamCuts, ownCuts) => {
        const { events } = await convert(chatSse(chatChunks(reply, size)), upstreamCuts)
        const chat = bufferedChat(reply)
        const { usage } = readChatReply(chat)
        expect(await finalMessage(sseText(events), ownCuts)).toMatchObject(
          received(messagesReply(chat, usage, identity)),
        )
      },
    ),
    { numRuns: 1000 },
  )
})

test('pieces in any order: the grammar holds and every word arrives', () => {
  const threads = fc.record({
    text: fc.string({ maxLength: 20 }),
    calls,
    order: fc.infiniteStream(fc.nat()),
  })
  fc.assert(
    fc.property(threads, ({ text, calls: list, order }) => {
      const waiting = [
        pieces(text, 3).map((content) => chunkOf({ content })),
        ...list.map((call, k) => callChunks(k, call)),
      ].filter((thread) => thread.length > 0)
      const stream = createMessagesStream(
        createChatStream({ publicModel: 'mine', native: true }),
        identity,
      )
      const events: StreamEvent[] = []
      const push = (chunk: JsonObject) =>
        events.push(...stream.push([streamEvent(JSON.stringify(chunk))]))
      while (waiting.length > 0) {
        const thread = waiting[order.next().value % waiting.length] as JsonObject[]
        push(thread.shift() as JsonObject)
        if (thread.length === 0) waiting.splice(waiting.indexOf(thread), 1)
      }
      push(chunkOf({}, 'stop'))
      stream.push([streamEvent('[DONE]')])
      events.push(...stream.terminal)

      expect(grammarFault(events, 'complete')).toBeUndefined()
      const blocks = foldMessages(events).content as JsonObject[]
      const texts = blocks.filter(({ type }) => type === 'text').map((block) => block.text)
      expect(texts.join('')).toBe(text)
      const uses = blocks.filter(({ type }) => type === 'tool_use')
      expect(new Map(uses.map(({ id, name, input }) => [id, { name, input }]))).toEqual(
        new Map(list.map(({ id, name, input }) => [id, { name, input: JSON.parse(input) }])),
      )
    }),
    { numRuns: 1000 },
  )
})

const junk: fc.Arbitrary<string> = fc.oneof(
  fc
    .oneof(
      fc.record({ content: fc.option(fc.string()) }),
      fc.record({ refusal: fc.string() }),
      fc.record({
        tool_calls: fc.array(
          fc.record(
            {
              index: fc.nat(2),
              id: fc.constantFrom('a', 'b', ''),
              function: fc.record(
                {
                  name: fc.constantFrom('f', ''),
                  arguments: fc.constantFrom('', '{', '"a":1', '}'),
                },
                { requiredKeys: [] },
              ),
            },
            { requiredKeys: [] },
          ),
          { maxLength: 3 },
        ),
      }),
      fc
        .constantFrom(
          { type: 'thinking_delta', thinking: 'hm' },
          { type: 'signature_delta', signature: 's' },
          { type: 'redacted_thinking', data: 'd' },
          { type: 'unheard_of' },
        )
        .map((block) => ({
          provider_metadata: {
            cloud_x: { reasoning: { source: 'anthropic_messages_stream', blocks: [block] } },
          },
        })),
    )
    .chain((delta) =>
      fc
        .constantFrom(null, null, null, 'stop', 'tool_calls')
        .map((finish) => JSON.stringify(chunkOf(delta as JsonObject, finish))),
    ),
  fc.constantFrom(
    '[DONE]',
    '{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}',
    '{"error":{"message":"no"}}',
    '{"choices":[{"index":1,"delta":{"content":"x"},"finish_reason":null}]}',
    '{"choices":{}}',
    'oops',
  ),
)

test('for any upstream stream, the event grammar holds', () => {
  const outcomes = new Set<string>()
  fc.assert(
    fc.property(fc.array(junk, { maxLength: 30 }), (chunks) => {
      const stream = createMessagesStream(
        createChatStream({ publicModel: 'mine', native: true }),
        identity,
      )
      const events = chunks.flatMap((chunk) => stream.push([streamEvent(chunk)]))
      stream.end()
      expect(stream.outcome).not.toBe('open')
      if (stream.outcome === 'open') return
      outcomes.add(stream.outcome)
      expect(grammarFault([...events, ...stream.terminal], stream.outcome)).toBeUndefined()
    }),
    { numRuns: 2000 },
  )
  expect(outcomes).toEqual(new Set(['complete', 'failed']))
})

test('the checks detect planted faults', async () => {
  const reply = {
    thinking: [{ type: 'thinking', thinking: 'hm', signature: 's' }],
    text: 'Hello',
    calls: [{ id: 'a', name: 'f', input: '{"x":1}' }],
    finish: 'tool_calls',
    usage: { prompt_tokens: 100, completion_tokens: 1 },
  }
  const { events } = await convert(chatSse(chatChunks(reply, 2)), [])
  const chat = bufferedChat(reply)
  const whole = messagesReply(chat, readChatReply(chat).usage, identity)
  expect(foldMessages(events)).toEqual(whole)
  for (const [i, event] of events.entries()) {
    const without = events.toSpliced(i, 1)
    const twice = events.toSpliced(i, 0, event)
    if (event.event === 'content_block_delta') {
      // The grammar allows it, the message is another one, or cannot even be read.
      expect(() => expect(foldMessages(without)).toEqual(whole)).toThrow()
    } else {
      expect(grammarFault(without, 'complete')).toBeDefined()
      expect(grammarFault(twice, 'complete')).toBeDefined()
    }
  }
  expect(grammarFault(events, 'failed')).toBeDefined()
  const broken = sseText(events.filter((event) => event.event !== 'message_start'))
  await expect(finalMessage(broken, [])).rejects.toThrow()
})
