import type { JsonObject } from 'model-gateway/plugin'

/** What a model says, whatever the API; texts and arguments in the pieces that a stream sends. */
export interface Said {
  readonly blocks: readonly SaidBlock[]
  readonly stopReason: string
  /** Counters as the API spells them. */
  readonly usage: JsonObject
  /** Stands at the end of the reply's id. Default: nothing. */
  readonly turn?: string
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

export const argumentsOf = (pieces: readonly string[]): JsonObject =>
  pieces.length === 0 ? {} : JSON.parse(pieces.join(''))

export const messagesUsage: JsonObject = {
  input_tokens: 24,
  output_tokens: 17,
  cache_read_input_tokens: 8,
  cache_creation_input_tokens: 0,
}

/** Reply of the native messages API. */
export function messagesReply({ blocks, stopReason, usage, turn = '' }: Said): JsonObject {
  return {
    id: `msg_bdrk_01XyZ${turn}`,
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
