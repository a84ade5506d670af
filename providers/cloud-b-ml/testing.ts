/** What the service says on the wire, its binary frames built by the encoder of its own SDK. */
import { EventStreamCodec } from '@smithy/eventstream-codec'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import type { Pace, Reply } from 'model-gateway/testing'

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
)

type Headers = Readonly<Record<string, string>>

/** A frame with string headers. */
export function frame(headers: Headers, payload: JsonValue | string): Uint8Array {
  return codec.encode({
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, { type: 'string', value }]),
    ),
    body: Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)),
  })
}

export function eventFrame(type: string, payload: JsonValue | string): Uint8Array {
  const headers = {
    ':event-type': type,
    ':content-type': 'application/json',
    ':message-type': 'event',
  }
  return frame(headers, payload)
}

export function exceptionFrame(type: string, payload: JsonValue): Uint8Array {
  const headers = {
    ':exception-type': type,
    ':content-type': 'application/json',
    ':message-type': 'exception',
  }
  return frame(headers, payload)
}

/** A binary event stream of these frames, and a proper end. */
export function framed(frames: readonly Uint8Array[], pace: Pace = {}): Reply {
  return async (x) => {
    await x.begin(200, {
      'content-type': 'application/vnd.amazon.eventstream',
      'x-amzn-requestid': '8c9a2f6e-4e0b-4c54-9d6a-2f1b7c3d5e7f',
    })
    for (const piece of pieces(frames, pace.pieceBytes)) {
      await x.sleep(pace.gapMs ?? 0)
      if (x.gone.aborted) return
      await x.write(piece)
    }
    await x.end()
  }
}

function pieces(frames: readonly Uint8Array[], size: number | undefined): readonly Uint8Array[] {
  if (size === undefined) return frames
  const all = Buffer.concat(frames)
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.subarray(index * size, (index + 1) * size),
  )
}

/** What a model says, whatever the API; texts and arguments in the pieces that a stream sends. */
export interface Said {
  readonly blocks: readonly SaidBlock[]
  readonly stopReason: string
  /** Counters as the API spells them. */
  readonly usage: JsonObject
}

export type SaidBlock =
  | { readonly kind: 'text'; readonly pieces: readonly string[] }
  | { readonly kind: 'thinking'; readonly pieces: readonly string[]; readonly signature: string }
  | { readonly kind: 'redacted'; readonly data: string }
  | {
      readonly kind: 'tool'
      readonly id: string
      readonly name: string
      /** JSON text of an object, in pieces; none for a call without arguments. */
      readonly pieces: readonly string[]
    }

const argumentsOf = (pieces: readonly string[]): JsonObject =>
  pieces.length === 0 ? {} : JSON.parse(pieces.join(''))

export const converseUsage: JsonObject = { inputTokens: 24, outputTokens: 17, totalTokens: 41 }

/** Reply of Converse. */
export function converseReply({ blocks, stopReason, usage }: Said): JsonObject {
  return {
    output: { message: { role: 'assistant', content: blocks.map(converseBlock) } },
    stopReason,
    usage,
    metrics: { latencyMs: 551 },
  }
}

function converseBlock(block: SaidBlock): JsonObject {
  switch (block.kind) {
    case 'text':
      return { text: block.pieces.join('') }
    case 'thinking':
      return {
        reasoningContent: {
          reasoningText: { text: block.pieces.join(''), signature: block.signature },
        },
      }
    case 'redacted':
      return { reasoningContent: { redactedContent: block.data } }
    case 'tool':
      return {
        toolUse: { toolUseId: block.id, name: block.name, input: argumentsOf(block.pieces) },
      }
  }
}

/** The same as the frames of ConverseStream. Every payload carries padding, as the service's do. */
export function converseFrames({ blocks, stopReason, usage }: Said): Uint8Array[] {
  const event = (type: string, payload: JsonObject) =>
    eventFrame(type, { ...payload, p: 'abcdefghijklmn'.slice(0, 1 + (type.length % 14)) })
  const content = blocks.flatMap((block, contentBlockIndex) => {
    const delta = (value: JsonObject) =>
      event('contentBlockDelta', { contentBlockIndex, delta: value })
    const start =
      block.kind === 'tool'
        ? [
            event('contentBlockStart', {
              contentBlockIndex,
              start: { toolUse: { toolUseId: block.id, name: block.name } },
            }),
          ]
        : []
    return [
      ...start,
      ...converseDeltas(block).map(delta),
      event('contentBlockStop', { contentBlockIndex }),
    ]
  })
  return [
    event('messageStart', { role: 'assistant' }),
    ...content,
    event('messageStop', { stopReason }),
    event('metadata', { usage, metrics: { latencyMs: 551 } }),
  ]
}

function converseDeltas(block: SaidBlock): JsonObject[] {
  switch (block.kind) {
    case 'text':
      return block.pieces.map((text) => ({ text }))
    case 'thinking':
      return [
        ...block.pieces.map((text) => ({ reasoningContent: { text } })),
        { reasoningContent: { signature: block.signature } },
      ]
    case 'redacted':
      return [{ reasoningContent: { redactedContent: block.data } }]
    case 'tool':
      return block.pieces.map((input) => ({ toolUse: { input } }))
  }
}

export const messagesUsage: JsonObject = {
  input_tokens: 24,
  output_tokens: 17,
  cache_read_input_tokens: 8,
  cache_creation_input_tokens: 0,
}

/** Reply of the native messages API. */
export function messagesReply({ blocks, stopReason, usage }: Said): JsonObject {
  return {
    id: 'msg_bdrk_01XyZ',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-4-8',
    content: blocks.map(messagesBlock),
    stop_reason: stopReason,
    stop_sequence: null,
    usage,
  }
}

function messagesBlock(block: SaidBlock): JsonObject {
  switch (block.kind) {
    case 'text':
      return { type: 'text', text: block.pieces.join('') }
    case 'thinking':
      return { type: 'thinking', thinking: block.pieces.join(''), signature: block.signature }
    case 'redacted':
      return { type: 'redacted_thinking', data: block.data }
    case 'tool':
      return { type: 'tool_use', id: block.id, name: block.name, input: argumentsOf(block.pieces) }
  }
}

/** The same as server-sent events, with the pings and the repetition that do occur. */
export function messagesFrames(said: Said): string[] {
  const event = (type: string, fields: JsonObject) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
  const message = {
    ...messagesReply({ ...said, blocks: [] }),
    stop_reason: null,
    usage: { ...said.usage, output_tokens: 1 },
  }
  const content = said.blocks.flatMap((block, index) => [
    event('content_block_start', { index, content_block: startOf(block) }),
    event('ping', {}),
    ...messagesDeltas(block).map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ])
  return [
    event('message_start', { message }),
    event('message_start', { message }),
    event('ping', {}),
    ...content,
    event('message_delta', {
      delta: { stop_reason: said.stopReason, stop_sequence: null },
      usage: { output_tokens: said.usage.output_tokens },
    }),
    event('message_stop', {}),
  ]
}

function startOf(block: SaidBlock): JsonObject {
  switch (block.kind) {
    case 'text':
      return { type: 'text', text: '' }
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' }
    case 'redacted':
      return { type: 'redacted_thinking', data: block.data }
    case 'tool':
      return { type: 'tool_use', id: block.id, name: block.name, input: {} }
  }
}

function messagesDeltas(block: SaidBlock): JsonObject[] {
  switch (block.kind) {
    case 'text':
      return block.pieces.map((text) => ({ type: 'text_delta', text }))
    case 'thinking':
      return [
        ...block.pieces.map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: block.signature },
      ]
    case 'redacted':
      return []
    case 'tool':
      return block.pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json }))
  }
}
