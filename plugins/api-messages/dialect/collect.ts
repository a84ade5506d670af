import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { isPresent, readObject, type StreamEvent, streamEvent, toolInput } from 'model-gateway/wire'
import { isToolUse } from './reply.ts'
import { mergeCounters } from './stream.ts'

type Members = Record<string, JsonValue | undefined>

/** A block so far. */
interface Told {
  readonly block: Members
  /** The JSON text of a call's input. */
  input: string
}

/** The message that a stream adds up to. */
export function collectMessage(events: readonly StreamEvent[]): JsonObject {
  let message: Members = {}
  let usage: JsonObject | undefined
  const blocks: Told[] = []
  /** Open blocks by index: a second one with the same index does not replace the first. */
  const open = new Map<JsonValue | undefined, Told>()
  const begin = (index: JsonValue | undefined, block: JsonObject): Told => {
    const told = { block: { ...block }, input: '' }
    blocks.push(told)
    open.set(index, told)
    return told
  }
  for (const event of events) {
    const payload = readObject(event) ?? {}
    const { type = event.event, message: begun, content_block: block, delta, index } = payload
    if (isJsonObject(begun)) message = { ...message, ...begun }
    if (isJsonObject(block)) begin(index, block)
    if (isJsonObject(delta)) {
      if (type === 'message_delta') Object.assign(message, delta)
      else takeDelta(open.get(index) ?? begin(index, {}), delta)
    }
    if (type !== 'message_delta') continue
    const { type: _, delta: __, usage: more, ...beside } = payload
    Object.assign(message, beside)
    if (isJsonObject(more)) usage = mergeCounters(usage ?? countersOf(message), more)
  }
  const stated = Array.isArray(message.content) ? message.content : []
  const content = [...stated, ...blocks.map(wholeBlock)]
  return { ...message, content, ...(usage && { usage }) } as JsonObject
}

function countersOf({ usage }: Members): JsonObject {
  return isJsonObject(usage) ? usage : {}
}

/** Appends texts and citations; also for unknown delta types. */
function takeDelta(told: Told, { type: _, partial_json: json, ...members }: JsonObject): void {
  if (typeof json === 'string') told.input += json
  for (const [name, value] of Object.entries(members)) {
    const { block } = told
    const before = block[name]
    if (name === 'citation') block.citations = [...listOf(block.citations), value as JsonValue]
    else if (typeof value === 'string' && typeof before === 'string') block[name] = before + value
    else block[name] = value
  }
}

function wholeBlock({ block, input }: Told): JsonValue {
  return (input === '' ? block : { ...block, input: toolInput(input) }) as JsonObject
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

/** A message as the equivalent stream. */
export function tellMessage(message: JsonObject): StreamEvent[] {
  const events: StreamEvent[] = []
  const send = (type: string, members: JsonObject) =>
    events.push(streamEvent(JSON.stringify({ type, ...members }), type))
  const { content, stop_reason, stop_sequence, usage } = message
  const end = { stop_reason, stop_sequence }
  const begun = Object.keys(end).filter((name) => message[name] !== undefined)
  const open = Object.fromEntries(begun.map((name) => [name, null]))
  send('message_start', { message: { ...message, ...open, content: [] } })
  for (const [index, block] of listOf(content).entries()) {
    if (!isJsonObject(block)) continue
    const { start, deltas } = inPieces(block)
    send('content_block_start', { index, content_block: start })
    for (const delta of deltas) send('content_block_delta', { index, delta })
    send('content_block_stop', { index })
  }
  send('message_delta', { delta: end, ...(isPresent(usage) && { usage }) })
  send('message_stop', {})
  return events
}

/** The start of a block, and its deltas; a block of an unknown type starts complete. */
function inPieces(block: JsonObject): { start: JsonObject; deltas: readonly JsonObject[] } {
  const { type, text, citations, thinking, signature, input } = block
  if (type === 'text' && typeof text === 'string') {
    const cited = listOf(citations)
    return {
      start: { ...block, text: '', ...(cited.length > 0 && { citations: [] }) },
      deltas: [
        ...cited.map((citation) => ({ type: 'citations_delta', citation })),
        { type: 'text_delta', text },
      ],
    }
  }
  if (type === 'thinking' && typeof thinking === 'string') {
    const signed = typeof signature === 'string'
    return {
      start: { ...block, thinking: '', ...(signed && { signature: '' }) },
      deltas: [
        { type: 'thinking_delta', thinking },
        ...(signed ? [{ type: 'signature_delta', signature }] : []),
      ],
    }
  }
  if (isToolUse(block) && isJsonObject(input)) {
    const partial_json = JSON.stringify(input)
    return {
      start: { ...block, input: {} },
      deltas: [{ type: 'input_json_delta', partial_json }],
    }
  }
  return { start: block, deltas: [] }
}
