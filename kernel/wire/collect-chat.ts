import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import { type StreamEvent, streamEvent } from '../plugin/stream.ts'
import { DONE, doneEvent, readObject } from './dialect-stream.ts'
import { isPresent } from './is-present.ts'

type Mutable = Record<string, JsonValue>

/** The state of a choice. */
interface Choice {
  readonly index: JsonValue
  readonly message: Mutable
  /** Additional members of some upstreams. */
  readonly stated: Mutable
  /** Tool calls by index, in order of their beginning. */
  readonly calls: Map<JsonValue, Mutable>
  finish: JsonValue
  rest: Mutable
}

/** Builds the buffered reply of a normalised chat stream. */
export function collectChat(events: readonly StreamEvent[]): JsonObject {
  let head: Mutable = {}
  const choices = new Map<JsonValue, Choice>()
  for (const event of events) {
    if (event.data.trim() === DONE) continue
    const chunk = readObject(event)
    if (chunk === undefined) continue
    const { choices: list, ...rest } = chunk
    head = { ...head, ...defined(rest) }
    if (!Array.isArray(list)) continue
    for (const [position, piece] of list.entries()) {
      if (isJsonObject(piece)) take(choices, piece.index ?? position, piece)
    }
  }
  return {
    ...head,
    object: 'chat.completion',
    choices: [...choices.values()].flatMap(({ index, message, stated, calls, finish, rest }) => {
      const told = { ...message, ...(calls.size > 0 && { tool_calls: [...calls.values()] }) }
      const choice = { ...rest, index, message: told, finish_reason: finish }
      return isToldIn(told, stated) ? [choice] : [choice, { ...choice, message: stated }]
    }),
  }
}

function isToldIn(told: JsonObject, stated: JsonObject): boolean {
  return Object.entries(stated).every(
    ([name, value]) =>
      !isPresent(value) || value === '' || JSON.stringify(value) === JSON.stringify(told[name]),
  )
}

function take(choices: Map<JsonValue, Choice>, index: JsonValue, piece: JsonObject): void {
  let choice = choices.get(index)
  if (choice === undefined) {
    const message = { role: 'assistant', content: null }
    choice = { index, message, stated: {}, calls: new Map(), finish: null, rest: {} }
    choices.set(index, choice)
  }
  const { index: _, delta, message, finish_reason, ...rest } = piece
  choice.finish = finish_reason ?? choice.finish
  choice.rest = { ...choice.rest, ...defined(rest) }
  if (isJsonObject(message)) append(choice.stated, message)
  if (!isJsonObject(delta)) return
  const { tool_calls, ...texts } = delta
  append(choice.message, texts)
  if (!Array.isArray(tool_calls)) return
  for (const [position, fragment] of tool_calls.entries()) {
    if (!isJsonObject(fragment)) continue
    const at = fragment.index ?? position
    const call = choice.calls.get(at) ?? {}
    choice.calls.set(at, call)
    append(call, fragment)
  }
}

/** Appends strings and lists, merges objects; `role`, `id`, `type` and `name` are set once. */
function append(into: Mutable, more: JsonObject): void {
  for (const [name, value] of Object.entries(more)) {
    const before = into[name]
    if (value === undefined || value === null || value === '') into[name] ??= value ?? null
    else if (typeof value === 'string' && typeof before === 'string' && !SAID_ONCE.has(name))
      into[name] = before + value
    else if (Array.isArray(value) || Array.isArray(before))
      into[name] = longer(partsOf(before), partsOf(value))
    else if (isJsonObject(value)) {
      const inner: Mutable = isJsonObject(before) ? ({ ...before } as Mutable) : {}
      append(inner, value)
      into[name] = inner
    } else into[name] = value
  }
}

/** Some upstreams send thinking as parts and the rest as text. */
function partsOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(value)) return value
  if (value === undefined || value === null || value === '') return []
  return [typeof value === 'string' ? { type: 'text', text: value } : value]
}

/** The first part continues the last one if both are pieces of the same text. */
function longer(before: readonly JsonValue[], [first, ...others]: readonly JsonValue[]) {
  const last = before.at(-1)
  if (first === undefined) return [...before]
  if (!isPiece(last) || !isPiece(first) || last.type !== first.type || last.index !== first.index)
    return [...before, first, ...others]
  const whole = { ...last } as Mutable
  append(whole, first)
  return [...before.slice(0, -1), whole, ...others]
}

/** Has a text and no other members that belong to this text only. */
function isPiece(part: JsonValue | undefined): part is JsonObject {
  return (
    isJsonObject(part) &&
    PIECES.some((name) => name in part) &&
    Object.keys(part).every((name) => PIECES.includes(name) || BESIDE_PIECES.has(name))
  )
}

const PIECES = ['text', 'thinking', 'summary']
const BESIDE_PIECES = new Set(['type', 'index', 'id', 'format'])

const SAID_ONCE = new Set(['role', 'id', 'type', 'name', 'index', 'source', 'format'])

function defined(members: JsonObject): Mutable {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => isPresent(value)),
  ) as Mutable
}

/** Converts a buffered chat reply to a stream of few chunks. */
export function chatEvents(body: JsonObject): StreamEvent[] {
  const { choices, usage, ...head } = body
  const chunk = (more: JsonObject) =>
    streamEvent(JSON.stringify({ ...head, object: 'chat.completion.chunk', ...more }))
  const events: StreamEvent[] = []
  for (const choice of Array.isArray(choices) ? choices : []) {
    if (!isJsonObject(choice)) continue
    const { index = 0, message, finish_reason = 'stop', ...rest } = choice
    const said = isJsonObject(message) ? message : {}
    const calls = Array.isArray(said.tool_calls) ? said.tool_calls : []
    const tool_calls = calls.map((call, at) => (isJsonObject(call) ? { ...call, index: at } : call))
    const delta = { ...said, ...(calls.length > 0 && { tool_calls }) }
    events.push(chunk({ choices: [{ ...rest, index, delta, finish_reason: null }] }))
    events.push(chunk({ choices: [{ index, delta: {}, finish_reason }] }))
  }
  if (isPresent(usage)) events.push(chunk({ choices: [], usage }))
  events.push(doneEvent)
  return events
}
