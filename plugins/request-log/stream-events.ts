import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { StreamEvent } from 'model-gateway/wire'
import { findSecrets } from '../_shared/secret-text.ts'

const PAUSE_AFTER = 64

/** The data of events, parsed if it is JSON. Secrets that span events are redacted. */
export function* readEvents(events: readonly StreamEvent[]): Generator<undefined, JsonValue[]> {
  const values: JsonValue[] = []
  for (const [index, event] of events.entries()) {
    values.push(parsed(event.data))
    if (index % PAUSE_AFTER === PAUSE_AFTER - 1) yield
  }
  redactAcross(values)
  return values
}

/** A separate copy, because the parsed data of the event is shared. */
function parsed(data: string): JsonValue {
  try {
    return JSON.parse(data) as JsonValue
  } catch {
    return data
  }
}

/** A delta of a streamed text. */
interface Piece {
  readonly text: string
  readonly owner: JsonObject
  readonly key: string
}

/** Joins the deltas, because a secret may span several. */
function redactAcross(events: readonly JsonValue[]): void {
  const texts = new Map<string, Piece[]>()
  const add = (name: string, owner: JsonObject, key: string) => {
    const text = owner[key]
    if (typeof text !== 'string' || text === '') return
    const pieces = texts.get(name)
    if (pieces === undefined) texts.set(name, [{ text, owner, key }])
    else pieces.push({ text, owner, key })
  }
  const addMembers = (name: string, owner: JsonValue | undefined) => {
    if (isJsonObject(owner)) for (const key in owner) add(name + key, owner, key)
  }
  for (const event of events) {
    if (!isJsonObject(event)) continue
    if (typeof event.delta === 'string') {
      add(`${event.type} ${event.item_id} ${event.content_index}`, event, 'delta')
    } else addMembers(`${event.index} `, event.delta)
    if (!Array.isArray(event.choices)) continue
    for (const choice of event.choices) {
      const delta = isJsonObject(choice) ? choice.delta : undefined
      if (!isJsonObject(choice) || !isJsonObject(delta)) continue
      const name = `choice ${choice.index} `
      addMembers(name, delta)
      addMembers(`${name}function `, delta.function_call)
      if (!Array.isArray(delta.tool_calls)) continue
      for (const [position, call] of delta.tool_calls.entries()) {
        if (isJsonObject(call)) addMembers(`${name}${call.index ?? position} `, call.function)
      }
    }
  }
  for (const pieces of texts.values()) {
    if (pieces.length > 1) redactPieces(pieces)
  }
}

function redactPieces(pieces: readonly Piece[]): void {
  const cuts = findSecrets(pieces.map(({ text }) => text).join(''))
  if (cuts.length === 0) return
  let start = 0
  for (const { text, owner, key } of pieces) {
    const end = start + text.length
    let out = ''
    let at = start
    for (const cut of cuts) {
      if (cut.end <= start || cut.start >= end) continue
      out += text.slice(at - start, Math.max(cut.start - start, 0))
      if (cut.start >= start) out += cut.instead
      at = Math.min(cut.end, end)
    }
    owner[key] = out + text.slice(at - start)
    start = end
  }
}
