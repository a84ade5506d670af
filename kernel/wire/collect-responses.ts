import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import { type StreamEvent, streamEvent } from '../plugin/stream.ts'
import { doneEvent, readObject } from './dialect-stream.ts'
import { createStreamedItems } from './streamed-items.ts'

/**
 * Builds the response of a stream: that of its last event, with `output` from the streamed events
 * where they differ, so that no streamed content is missed.
 */
export function collectResponse(events: readonly StreamEvent[]): JsonObject {
  let response: JsonObject = {}
  const streamedItems = createStreamedItems()
  /** Streamed texts, by item and position. */
  const pieces = new Map<string, string>()
  /** Complete texts. */
  const wholes = new Set<string>()
  for (const event of events) {
    const payload = readObject(event)
    if (payload === undefined) continue
    if (isJsonObject(payload.response)) response = { ...response, ...payload.response }
    const { item_id, output_index, type = event.event } = payload
    streamedItems.take(payload, type)
    if (typeof payload.delta === 'string' && type !== 'response.audio.delta') {
      const { content_index, summary_index, command_index } = payload
      const within = [content_index, summary_index, command_index]
      const place = JSON.stringify([output_index, item_id, type, ...within])
      pieces.set(place, (pieces.get(place) ?? '') + payload.delta)
    } else {
      for (const text of wholeTexts(payload)) wholes.add(text)
      if (isJsonObject(payload.part)) for (const text of wholeTexts(payload.part)) wholes.add(text)
    }
  }
  const stated = Array.isArray(response.output) ? response.output : []
  const items = streamedItems.all()
  const known = JSON.stringify([stated, items])
  const told = new Set(stated.map((item) => JSON.stringify(item)))
  const streamed = items.filter((item) => !told.has(JSON.stringify(item)))
  // Texts that are in no finished item.
  const loose = [...new Set([...pieces.values(), ...wholes])].filter(
    (text) => !known.includes(JSON.stringify(text).slice(1, -1)),
  )
  return {
    ...response,
    output: [...stated, ...streamed],
    ...(loose.length > 0 && { output_text: loose }),
  }
}

/** Members of an event or its part that are texts. */
const WHOLE = ['text', 'refusal', 'arguments', 'input', 'code']

function wholeTexts(members: JsonObject): string[] {
  return WHOLE.map((name) => members[name]).filter((text) => typeof text === 'string')
}

/** Items whose arguments are sent in separate events. */
const DELTA_KINDS = ['function_call', 'mcp_call']

/** Converts a response to a stream. */
export function responseEvents(response: JsonObject): StreamEvent[] {
  const events: StreamEvent[] = []
  const send = (type: string, members: JsonObject) =>
    events.push(
      streamEvent(JSON.stringify({ type, sequence_number: events.length, ...members }), type),
    )
  const { output_text: _, ...rest } = response
  const output = firstOfEachId(Array.isArray(response.output) ? response.output : [])
  const whole = { ...rest, output }
  send('response.created', { response: { ...rest, status: 'in_progress', output: [] } })
  for (const [output_index, item] of output.entries()) {
    if (!isJsonObject(item)) continue
    const item_id = typeof item.id === 'string' ? item.id : `item_${output_index}`
    const place = { item_id, output_index }
    const { content } = item
    const parts = item.type === 'message' && Array.isArray(content) ? content : []
    const kind = DELTA_KINDS.find((kind) => kind === item.type)
    const written =
      kind !== undefined && typeof item.arguments === 'string' ? item.arguments : undefined
    // Deltas are appended to this, so the texts start empty.
    const begun = {
      ...item,
      ...(parts.length > 0 && { status: 'in_progress', content: [] }),
      ...(written !== undefined && { arguments: '' }),
    }
    send('response.output_item.added', { output_index, item: begun })
    for (const [content_index, part] of parts.entries()) {
      if (!isJsonObject(part)) continue
      const at = { ...place, content_index }
      const { type, text, refusal } = part
      if (type === 'output_text' && typeof text === 'string') {
        send('response.content_part.added', { ...at, part: { ...part, text: '' } })
        send('response.output_text.delta', { ...at, delta: text, logprobs: [] })
        send('response.output_text.done', { ...at, text, logprobs: [] })
      } else if (type === 'refusal' && typeof refusal === 'string') {
        send('response.content_part.added', { ...at, part: { ...part, refusal: '' } })
        send('response.refusal.delta', { ...at, delta: refusal })
        send('response.refusal.done', { ...at, refusal })
      } else send('response.content_part.added', { ...at, part })
      send('response.content_part.done', { ...at, part })
    }
    if (written !== undefined) {
      send(`response.${kind}_arguments.delta`, { ...place, delta: written })
      send(`response.${kind}_arguments.done`, { ...place, arguments: written })
    }
    send('response.output_item.done', { output_index, item })
  }
  const { status } = response
  send(`response.${typeof status === 'string' ? status : 'completed'}`, { response: whole })
  events.push(doneEvent)
  return events
}

function firstOfEachId(items: readonly JsonValue[]): JsonValue[] {
  const seen = new Set<JsonValue>()
  return items.filter((item) => {
    if (!isJsonObject(item) || item.id === undefined) return true
    if (seen.has(item.id)) return false
    seen.add(item.id)
    return true
  })
}
