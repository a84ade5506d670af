/** Random replies of upstreams, each in its buffered and its streamed form. */
import fc from 'fast-check'
import type { JsonObject } from 'model-gateway/plugin'
import {
  bufferedChat,
  chatChunks,
  chatSse,
  said as saidByChat,
} from '../../../plugins/api-messages/to-chat/__fixtures__/messages.ts'
import { responseFrames, responseObject } from '../../harness/upstream.ts'
import { converseFrames, converseReply } from '../../harness/upstream-clouds-aws.ts'
import { contentArray, contentFrames, contentReply } from '../../harness/upstream-clouds-content.ts'
import {
  messagesFrames,
  messagesReply,
  type Said,
  type SaidBlock,
} from '../../harness/upstream-clouds-messages.ts'
import type { Asked, MatrixRoute } from './provider-matrix.fixture.ts'

/** One reply of an upstream in both of its forms. */
export interface Reply {
  readonly buffered: JsonObject
  /** The stream, frame by frame. */
  readonly frames: readonly (string | Uint8Array)[]
  readonly mediaType: string
}

export const EVENTS = 'text/event-stream'
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
const texts = fc.array(text, { minLength: 1, maxLength: 5 })
const signature = fc.base64String({ minLength: 4 })
const thinking = fc.record({ kind: fc.constant('thinking' as const), pieces: texts, signature })
const redacted = fc.record({ kind: fc.constant('redacted' as const), data: signature })
const spokenText = texts.map((pieces) => ({ kind: 'text' as const, pieces }))
const tool = fc
  .record({
    id: fc.stringMatching(/^[a-zA-Z0-9_-]{1,20}$/),
    name: fc.stringMatching(/^[a-z]{1,10}$/),
    input: fc.dictionary(text, fc.oneof(text, fc.integer()), { maxKeys: 3 }),
    step: fc.integer({ min: 1, max: 9 }),
  })
  .map(({ id, name, input, step }) => ({
    kind: 'tool' as const,
    id,
    name,
    pieces: JSON.stringify(input).match(new RegExp(`[^]{1,${step}}`, 'gu')) ?? [],
  }))

/** Thoughts, text and calls in the order in which a message of the messages API has them. */
function saidWith(
  thoughts: fc.Arbitrary<SaidBlock>,
  stopReason: fc.Arbitrary<string>,
  usage: JsonObject,
): fc.Arbitrary<Said> {
  return fc
    .record({
      thoughts: fc.array(thoughts, { maxLength: 2 }),
      text: spokenText,
      tools: fc.uniqueArray(tool, { maxLength: 2, selector: ({ id }) => id }),
      stopReason,
    })
    .map((one) => ({
      blocks: [...one.thoughts, one.text, ...one.tools],
      stopReason: one.stopReason,
      usage,
    }))
}

const ends = fc.constantFrom('end_turn', 'tool_use', 'max_tokens', 'stop_sequence', 'refusal')
const native = saidWith(fc.oneof(thinking, redacted), ends, {
  input_tokens: 24,
  output_tokens: 17,
  cache_read_input_tokens: 8,
  cache_creation_input_tokens: 3,
}).map(fromMessages)
const converse = saidWith(fc.oneof(thinking, redacted), ends, {
  inputTokens: 24,
  outputTokens: 17,
  totalTokens: 41,
}).map(fromConverse)
const content = fc
  .tuple(
    saidWith(thinking, fc.constantFrom('STOP', 'MAX_TOKENS', 'SAFETY'), {
      promptTokenCount: 24,
      candidatesTokenCount: 17,
      totalTokenCount: 41,
    }),
    fc.boolean(),
  )
  .map(([said, array]) => fromContent(said, array))
const chat = fc.tuple(saidByChat, fc.integer({ min: 1, max: 5 })).map(([said, size]) => ({
  buffered: { model: 'theirs', ...bufferedChat(said) },
  frames: [chatSse(chatChunks(said, size))],
  mediaType: EVENTS,
}))
const response = fc.tuple(texts, fc.boolean()).map(([pieces, calls]) => {
  const request: JsonObject = calls ? { tools: [{ type: 'function', name: 'f' }] } : {}
  return {
    buffered: responseObject(request, { pieces }),
    frames: responseFrames(request, { pieces }),
    mediaType: EVENTS,
  }
})

export function fromMessages(said: Said): Reply {
  return { buffered: messagesReply(said), frames: messagesFrames(said), mediaType: EVENTS }
}
export function fromConverse(said: Said): Reply {
  const mediaType = 'application/vnd.amazon.eventstream'
  return { buffered: converseReply(said), frames: converseFrames(said), mediaType }
}
/** A gateway that asks for events may be sent an array all the same. */
export function fromContent(said: Said, array: boolean): Reply {
  const frames = array ? contentArray(said) : contentFrames(said)
  return { buffered: contentReply(said), frames, mediaType: EVENTS }
}

/** Any reply of a route's upstream. */
export function repliesOf({ wire }: MatrixRoute, family: Asked): fc.Arbitrary<Reply> {
  if (family === 'responses') return response
  if (wire === 'google') return content
  if (wire === 'converse') return converse
  return wire === 'openai' ? chat : native
}
