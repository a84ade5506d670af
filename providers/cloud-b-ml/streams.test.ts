/** A stream adds up to the buffered reply, however the bytes are cut. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from 'model-gateway/plugin'
import { decodeSse, type StreamEvent } from 'model-gateway/wire'
import {
  converseFrames,
  converseReply,
  converseUsage,
} from '../../test/harness/upstream-clouds-aws.ts'
import {
  messagesFrames,
  messagesReply,
  messagesUsage,
  type Said,
  type SaidBlock,
} from '../../test/harness/upstream-clouds-messages.ts'
import { decodeEventStream } from '../_shared/event-stream.ts'
import { foldChat, gistOf } from '../_shared/fold-chat.fixture.ts'
import { chatFromMessages } from '../_shared/messages-reply.ts'
import { chatChunksFromMessages } from '../_shared/messages-stream.ts'
import { createToolNames, NAMES_OF_64 } from '../_shared/tool-names.ts'
import { chatFromUnified } from './unified-reply.ts'
import { chatChunksFromUnified } from './unified-stream.ts'

const call = { surface: 'chat_completions', body: { model: 'asked' }, requestId: 'r-1' }
const facts = {
  id: 'chatcmpl-1',
  model: 'anthropic.claude-opus-4-8',
  names: createToolNames(NAMES_OF_64),
}

async function* cut(bytes: Uint8Array, places: readonly number[]) {
  const at = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b)
  let from = 0
  for (const to of [...at, bytes.length]) {
    yield bytes.subarray(from, to)
    from = to
  }
}

async function collect(stream: AsyncIterable<readonly StreamEvent[]>): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for await (const batch of stream) {
    expect(batch).not.toBeEmpty()
    events.push(...batch)
  }
  return events
}

const apis = {
  Converse: {
    usage: converseUsage,
    buffered: (said: Said) => chatFromUnified(converseReply(said), call, facts),
    wire: (said: Said) => Buffer.concat(converseFrames(said)),
    stream: (bytes: AsyncIterable<Uint8Array>) =>
      chatChunksFromUnified(
        decodeEventStream(bytes, () => {
          throw new Error('a checksum did not fit')
        }),
        call,
        facts,
        {
          unknownEvent() {
            throw new Error('an event was not known')
          },
          redact: (text) => text,
        },
      ),
  },
  'native messages': {
    usage: messagesUsage,
    buffered: (said: Said) =>
      chatFromMessages(messagesReply(said), call, 'cloud_b_ml', facts.names),
    wire: (said: Said) => Buffer.from(messagesFrames(said).join('')),
    stream: (bytes: AsyncIterable<Uint8Array>) =>
      chatChunksFromMessages(decodeSse(bytes), call, 'cloud_b_ml', facts.names),
  },
} as const

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
const texts = fc.array(text, { minLength: 1, maxLength: 5 })
const block: fc.Arbitrary<SaidBlock> = fc.oneof(
  texts.map((pieces) => ({ kind: 'text' as const, pieces })),
  fc.record({
    kind: fc.constant('thinking' as const),
    pieces: texts,
    signature: fc.base64String({ minLength: 4 }),
  }),
  fc.record({ kind: fc.constant('redacted' as const), data: fc.base64String({ minLength: 4 }) }),
  fc
    .record({
      id: fc.stringMatching(/^[a-zA-Z0-9_-]{1,20}$/),
      name: fc.stringMatching(/^[a-z]{1,10}$/),
      input: fc.option(fc.dictionary(text, fc.oneof(text, fc.integer()), { maxKeys: 3 }), {
        nil: undefined,
      }),
      step: fc.integer({ min: 1, max: 9 }),
    })
    .map(({ id, name, input, step }) => ({
      kind: 'tool' as const,
      id,
      name,
      pieces: inPieces(input, step),
    })),
)

function inPieces(input: JsonObject | undefined, step: number): string[] {
  return input === undefined
    ? []
    : (JSON.stringify(input).match(new RegExp(`[^]{1,${step}}`, 'gu')) ?? [])
}

function said(usage: JsonObject): fc.Arbitrary<Said> {
  return fc.record({
    blocks: fc.array(block, { maxLength: 5 }),
    stopReason: fc.constantFrom('end_turn', 'tool_use', 'max_tokens', 'stop_sequence', 'refusal'),
    usage: fc.constant(usage),
  })
}

describe.each(Object.entries(apis))('%s', (_, api) => {
  test('fold(stream) = buffered, over 1,200 random replies and cuts', async () => {
    await fc.assert(
      fc.asyncProperty(
        said(api.usage),
        fc.array(fc.nat(), { maxLength: 30 }),
        async (reply, places) => {
          const events = await collect(api.stream(cut(api.wire(reply), places)))
          expect(events.filter(({ data }) => data === '[DONE]')).toHaveLength(1)
          expect(foldChat(events)).toEqual(gistOf(api.buffered(reply)))
        },
      ),
      { numRuns: 1200 },
    )
  })

  test('a stream truncated at any byte is an error without [DONE]', async () => {
    const reply: Said = {
      blocks: [
        { kind: 'text', pieces: ['größer ', '— 海'] },
        { kind: 'tool', id: 't', name: 'f', pieces: ['{"a":', '1}'] },
      ],
      stopReason: 'tool_use',
      usage: api.usage,
    }
    const bytes = api.wire(reply)
    const ends = endsThatAreWhole(bytes, api === apis.Converse)
    for (let length = 0; length < bytes.length; length++) {
      const events: StreamEvent[] = []
      const read = async () => {
        for await (const batch of api.stream(cut(bytes.subarray(0, length), [])))
          events.push(...batch)
      }
      if (ends.has(length)) continue
      await expect(read()).rejects.toMatchObject({ code: 'upstream_transport', status: 502 })
      expect(events.some(({ data }) => data === '[DONE]')).toBe(false)
    }
  })

  test('a wrong stream adds up to another reply', async () => {
    const reply: Said = {
      blocks: [{ kind: 'text', pieces: ['a', 'b'] }],
      stopReason: 'end_turn',
      usage: api.usage,
    }
    const wrong = { ...reply, blocks: [{ kind: 'text' as const, pieces: ['b', 'a'] }] }
    const events = await collect(api.stream(cut(api.wire(wrong), [])))
    expect(foldChat(events)).not.toEqual(gistOf(api.buffered(reply)))
  })
})

/** After `messageStop` Converse has said all but its counters. */
function endsThatAreWhole(bytes: Buffer, converse: boolean): ReadonlySet<number> {
  const ends = new Set<number>()
  for (let at = 0; converse && at < bytes.length; ) {
    const stop = bytes.subarray(at, at + bytes.readUInt32BE(at)).includes('messageStop')
    at += bytes.readUInt32BE(at)
    if (stop) ends.add(at)
  }
  return ends
}
