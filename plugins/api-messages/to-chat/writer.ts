import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { argumentsOf, type StreamEvent, streamEvent, UNSIGNED } from 'model-gateway/wire'

/** A content block that is being sent to the caller. */
interface StreamedBlock {
  /** `content_block_start`; undefined until known. */
  opening(final: boolean): JsonObject | undefined
  /** Complete once another block has started. */
  isComplete(): boolean
  /** Complete. */
  readonly whole?: boolean
  /** Deltas that are not sent yet. */
  deltas: JsonObject[]
  /** Deltas to send before it is closed. */
  lacks?(): JsonObject[]
  index?: number
}

interface ThinkingBlock extends StreamedBlock {
  signed: boolean
}

interface ToolBlock extends StreamedBlock {
  id: string | undefined
  name: string
  arguments: string
}

/**
 * Writes content blocks one after another, as the messages API requires, in any order of their
 * pieces: the first open block is streamed, pieces of later ones wait for its end. Interleaved tool
 * calls are not lost.
 */
export interface BlockWriter {
  text(text: string): void
  thinking(text: string): void
  signature(signature: JsonValue): void
  redacted(data: JsonValue): void
  /** A piece of the tool call at `slot`; another id at the same slot is another call. */
  toolCall(slot: JsonValue, piece: JsonObject): void
  /** Writes all waiting deltas and closes each block. */
  close(): void
  /** The events since the last call. */
  take(): StreamEvent[]
  readonly callsTools: boolean
}

/** `toolUseId` generates the id of the `k`th call if the upstream sends none. */
export function createBlockWriter(toolUseId: (k: number) => string): BlockWriter {
  let events: StreamEvent[] = []
  /** Open blocks, in the order in which they began; only the first is streamed. */
  const queue: StreamedBlock[] = []
  let count = 0
  let textBlock: StreamedBlock | undefined
  let thinkingBlock: ThinkingBlock | undefined
  const calls = new Map<JsonValue, ToolBlock>()
  let callCount = 0

  function begin<B extends StreamedBlock>(block: B): B {
    queue.push(block)
    return block
  }

  function write(final: boolean): void {
    for (let head = queue[0]; head !== undefined; head = queue[0]) {
      if (head.index === undefined) {
        const content_block = head.opening(final)
        if (content_block === undefined) return
        head.index = count++
        events.push(messagesEvent('content_block_start', { index: head.index, content_block }))
      }
      const { index } = head
      for (const delta of head.deltas) {
        events.push(messagesEvent('content_block_delta', { index, delta }))
      }
      head.deltas = []
      const ended = head.whole || final || (queue.length > 1 && head.isComplete())
      if (!ended) return
      for (const delta of head.lacks?.() ?? []) {
        events.push(messagesEvent('content_block_delta', { index, delta }))
      }
      events.push(messagesEvent('content_block_stop', { index }))
      queue.shift()
    }
  }

  /** The block, if it is still the last one and can take more of its kind. */
  function stillLast<B extends StreamedBlock>(block: B | undefined): B | undefined {
    return block !== undefined && queue.at(-1) === block ? block : undefined
  }

  /** The block for more thinking: a signature ends it. */
  function openThinking(): ThinkingBlock {
    const last = stillLast(thinkingBlock)
    if (last !== undefined && !last.signed) return last
    const opening = () => ({ type: 'thinking', thinking: '', signature: '' })
    const unsigned = { type: 'signature_delta', signature: UNSIGNED }
    const block: ThinkingBlock = {
      opening,
      isComplete: always,
      deltas: [],
      signed: false,
      lacks: () => (block.signed ? [] : [unsigned]),
    }
    return begin(block)
  }

  return {
    text(text) {
      const opening = () => ({ type: 'text', text: '' })
      textBlock = stillLast(textBlock) ?? begin({ opening, isComplete: always, deltas: [] })
      textBlock.deltas.push({ type: 'text_delta', text })
      write(false)
    },
    thinking(thinking) {
      thinkingBlock = openThinking()
      thinkingBlock.deltas.push({ type: 'thinking_delta', thinking })
      write(false)
    },
    signature(signature) {
      thinkingBlock = openThinking()
      thinkingBlock.signed = true
      thinkingBlock.deltas.push({ type: 'signature_delta', signature })
      write(false)
    },
    redacted(data) {
      const opening = () => ({ type: 'redacted_thinking', data })
      begin({ opening, isComplete: always, whole: true, deltas: [] })
      write(false)
    },
    toolCall(slot, piece) {
      const id = typeof piece.id === 'string' && piece.id !== '' ? piece.id : undefined
      let call = calls.get(slot)
      if (call === undefined || (id !== undefined && call.id !== undefined && id !== call.id)) {
        call = begin(toolBlock(toolUseId(callCount++)))
        calls.set(slot, call)
      }
      call.id ??= id
      const fn = isJsonObject(piece.function) ? piece.function : {}
      if (call.name === '' && typeof fn.name === 'string') call.name = fn.name
      const partial_json = argumentsOf(fn)
      if (partial_json !== '') {
        call.arguments += partial_json
        call.deltas.push({ type: 'input_json_delta', partial_json })
      }
      write(false)
    },
    close() {
      write(true)
    },
    take() {
      const taken = events
      events = []
      return taken
    },
    get callsTools() {
      return callCount > 0
    },
  }
}

function toolBlock(fallbackId: string): ToolBlock {
  const block: ToolBlock = {
    id: undefined,
    name: '',
    arguments: '',
    deltas: [],
    opening: (final) =>
      final || (block.id !== undefined && block.name !== '')
        ? { type: 'tool_use', id: block.id ?? fallbackId, name: block.name, input: {} }
        : undefined,
    isComplete: () => isWholeObject(block.arguments),
  }
  return block
}

function always(): boolean {
  return true
}

function isWholeObject(text: string): boolean {
  if (!text.trimEnd().endsWith('}')) return false
  try {
    return isJsonObject(JSON.parse(text))
  } catch {
    return false
  }
}

/** An event of the messages API, whose name is the `type` of its data. */
export function messagesEvent(type: string, members: JsonObject): StreamEvent {
  return streamEvent(JSON.stringify({ type, ...members }), type)
}
