import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import { type StreamEvent, streamEvent } from '../plugin/stream.ts'
import { DONE, doneEvent, readObject } from './family-stream.ts'

type Mutable = Record<string, JsonValue>

/** A choice as far as it has come. */
interface Choice {
  readonly index: JsonValue
  readonly message: Mutable
  readonly calls: Mutable[]
  /** The call that takes more at each place. */
  readonly open: Map<JsonValue, Mutable>
  finish: JsonValue
  rest: Mutable
}

/** The buffered reply that a normalised chat stream amounts to. */
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
    choices: [...choices.values()].map(({ index, message, calls, finish, rest }) => ({
      ...rest,
      index,
      message: { ...message, ...(calls.length > 0 && { tool_calls: calls }) },
      finish_reason: finish,
    })),
  }
}

function take(choices: Map<JsonValue, Choice>, index: JsonValue, piece: JsonObject): void {
  let choice = choices.get(index)
  if (choice === undefined) {
    const message = { role: 'assistant', content: null }
    choice = { index, message, calls: [], open: new Map(), finish: null, rest: {} }
    choices.set(index, choice)
  }
  const { index: _, delta, finish_reason, ...rest } = piece
  choice.finish = finish_reason ?? choice.finish
  choice.rest = { ...choice.rest, ...defined(rest) }
  if (!isJsonObject(delta)) return
  const { tool_calls, ...texts } = delta
  append(choice.message, texts)
  if (!Array.isArray(tool_calls)) return
  for (const [position, fragment] of tool_calls.entries()) {
    if (!isJsonObject(fragment)) continue
    // Fragments belong together by index; upstreams that leave it out name the id each time.
    const key = fragment.index ?? fragment.id ?? position
    let call = choice.open.get(key)
    if (call === undefined || isAnother(call, fragment)) {
      call = {}
      choice.calls.push(call)
      choice.open.set(key, call)
    }
    append(call, fragment)
  }
}

/** Upstreams that give every call index 0 tell them apart by id. */
function isAnother(call: JsonObject, { id }: JsonObject): boolean {
  return Boolean(call.id) && Boolean(id) && id !== call.id
}

/**
 * Strings grow, lists get longer, objects take in; `role`, `id`, `type` and `name` are said once,
 * whatever some upstreams leave empty later.
 */
function append(into: Mutable, more: JsonObject): void {
  for (const [name, value] of Object.entries(more)) {
    const before = into[name]
    if (value === undefined || value === null || value === '') into[name] ??= value ?? null
    else if (typeof value === 'string' && typeof before === 'string' && !SAID_ONCE.has(name))
      into[name] = before + value
    else if (Array.isArray(value) && Array.isArray(before)) into[name] = value.reduce(add, before)
    else if (isJsonObject(value)) {
      const inner: Mutable = isJsonObject(before) ? ({ ...before } as Mutable) : {}
      append(inner, value)
      into[name] = inner
    } else into[name] = value
  }
}

/** Reasoning is streamed as entries that differ in their text alone: they are one text in pieces. */
function add(list: readonly JsonValue[], entry: JsonValue): JsonValue[] {
  const last = list.at(-1)
  if (isJsonObject(last) && isJsonObject(entry)) {
    const name = 'thinking' in last ? 'thinking' : 'text'
    const [before, more] = [last[name], entry[name]]
    const rest = (of: JsonObject) => JSON.stringify({ ...of, [name]: '' })
    if (typeof before === 'string' && typeof more === 'string' && rest(last) === rest(entry)) {
      return [...list.slice(0, -1), { ...last, [name]: before + more }]
    }
  }
  return [...list, entry]
}

const SAID_ONCE = new Set(['role', 'id', 'type', 'name', 'index', 'source'])

function defined(members: JsonObject): Mutable {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  ) as Mutable
}

/** A buffered chat reply as a stream of few chunks. */
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
    const tool_calls = calls.map((call, at) => (isJsonObject(call) ? { index: at, ...call } : call))
    const delta = { ...said, ...(calls.length > 0 && { tool_calls }) }
    events.push(chunk({ choices: [{ ...rest, index, delta, finish_reason: null }] }))
    events.push(chunk({ choices: [{ index, delta: {}, finish_reason }] }))
  }
  if ((usage ?? null) !== null) events.push(chunk({ choices: [], usage: usage as JsonValue }))
  events.push(doneEvent)
  return events
}
