import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import type { StreamEvent } from '../plugin/stream.ts'
import type { DialectStream, StreamOptions } from '../plugin/surface.ts'
import { createCallPlaces, exactDelta } from './chat-choice.ts'
import {
  createDialectStream,
  DONE,
  doneEvent,
  isHeartbeat,
  readObject,
  type StreamRules,
  type StreamState,
  withData,
} from './dialect-stream.ts'
import { createEventTemplate } from './event-template.ts'
import { readInBandError, strayWords } from './in-band-error.ts'
import { isPresent, saysNothing } from './is-present.ts'
import { setMembers, setModel } from './json-splice.ts'
import { createUsageTap, readChatUsage } from './usage.ts'
import { searchOf } from './usage-extras.ts'

/** Members of every chunk that have no content. */
const ENVELOPE: ReadonlySet<string> = new Set([
  ...['id', 'object', 'created', 'model', 'choices', 'usage'],
  ...['provider', 'system_fingerprint', 'service_tier', 'obfuscation'],
])

/** The state of a choice. */
interface Begun {
  isFinished: boolean
  /** Absent if the choice has no tool calls. */
  place?: ReturnType<typeof createCallPlaces>
}

/**
 * Normalises a chat completions stream: the public model in each chunk, missing members that
 * clients expect, usage at the top level, `delta.reasoning` under its canonical name, exactly one
 * `[DONE]`. Events that are not chunks are dropped.
 */
export function createChatStream(options: StreamOptions): DialectStream {
  return createDialectStream((state) => chatRules(state, options))
}

function chatRules(
  state: StreamState,
  { publicModel, native, usageUnasked }: StreamOptions,
): StreamRules {
  const usage = createUsageTap(readChatUsage)
  const template = createEventTemplate()
  const choices = new Map<JsonValue, Begun>()
  const head: { id?: JsonValue; created?: JsonValue } = {}
  let invokedToolCount = 0
  let started = false
  let tier: JsonValue | undefined

  function malformed(what: string): undefined {
    return state.violated('malformed event', what)
  }

  /** The tier may be in another chunk than the counters. */
  function count(counters: JsonValue | undefined, chunk: JsonObject): void {
    tier = chunk.service_tier ?? tier
    usage.take(counters, tier, searchOf(chunk))
  }

  function normalise(event: StreamEvent): StreamEvent | undefined {
    const alike = template.apply(event)
    if (alike !== undefined) return alike
    if (event.data.trim() === DONE) return state.complete([doneEvent])
    const chunk = readObject(event)
    if (chunk === undefined) {
      return isHeartbeat(event) ? undefined : malformed('the data is not a JSON object')
    }
    if (isError(chunk)) return forwardError(event, chunk)
    return normaliseChunk(event, chunk)
  }

  function forwardError(event: StreamEvent, chunk: JsonObject): StreamEvent {
    count(chunk.usage, chunk)
    const { event: named, failure } = readInBandError(event, chunk, [])
    state.fail(failure)
    const { code, message } = failure
    let { data } = named
    // Official clients recognise an error by this member.
    if (saysNothing(chunk.error)) {
      const error = { message, type: 'upstream_error', code, param: null }
      data = setMembers(data, { error })
    }
    if (chunk.model !== undefined) data = setModel(data, chunk.model, publicModel)
    return withData(named, data)
  }

  function normaliseChunk(event: StreamEvent, chunk: JsonObject): StreamEvent | undefined {
    // Before the chunk is checked, because the upstream charges what it counts.
    count(chunk.usage, chunk)
    const stated = chunk.choices
    if (!Array.isArray(stated) && !saysNothing(stated)) return malformed('choices is not an array')
    const list = Array.isArray(stated) ? stated.filter((choice) => !saysNothing(choice)) : []
    const counters = countersOf(chunk, list)
    if (list.length === 0) {
      if (counters === undefined && !tellsMore(chunk)) return aside(chunk)
      if (counters !== undefined && usageUnasked === true) {
        count(counters, chunk)
        return undefined
      }
    }
    started = true
    let data = event.data
    if (list.length !== (stated as readonly JsonValue[] | undefined)?.length) {
      data = setMembers(data, { choices: list })
    }
    /** The event changed no state: similar events need not be parsed. */
    let ordinary = list.length > 0 && counters === undefined
    let finished = list.length === 0
    for (const [position, choice] of list.entries()) {
      if (!isJsonObject(choice)) return malformed('a choice is not an object')
      const read = readChoice(choice, position)
      if (read === undefined) return undefined
      if (read.finished) finished = true
      if (!read.ordinary) ordinary = false
      if (Object.keys(read.changes).length > 0) {
        data = setMembers(data, read.changes, ['choices', position])
      }
      const { delta } = choice
      if (!isJsonObject(delta) || isPresent(delta.reasoning)) continue
      const reasoning = delta.reasoning_content ?? delta.reasoning_text
      if (isPresent(reasoning)) {
        data = setMembers(data, { reasoning }, ['choices', position, 'delta'])
      }
    }
    if (counters === undefined) {
      if (isPresent(chunk.usage)) data = setMembers(data, { usage: null })
    } else if (!native && !finished) {
      // OpenAI sends them once, and clients such as LangChain add up what they read.
      count(counters, chunk)
      data = setMembers(data, { usage: null })
    } else if (counters !== chunk.usage) {
      count(counters, chunk)
      data = setMembers(data, { usage: counters })
    }
    const missing = missingHead(chunk)
    if (missing !== undefined) data = setMembers(data, missing)
    if (chunk.model !== publicModel) data = setModel(data, chunk.model, publicModel)
    const normalised = withData(event, data)
    if (ordinary) template.learn(event, normalised)
    return normalised
  }

  /** An object without content for the caller is dropped, unless it reports a failure. */
  function aside(chunk: JsonObject): undefined {
    const words = isPresent(chunk.type) ? '' : strayWords(chunk)
    return words === '' ? undefined : malformed(`it has no choices${words}`)
  }

  /** The changes to a choice for its readers; undefined if it failed the stream. */
  function readChoice(choice: JsonObject, position: number) {
    const changes: Record<string, JsonValue> = {}
    const key = typeof choice.index === 'number' ? choice.index : position
    if (choice.index !== key) changes.index = key
    const finish = saysNothing(choice.finish_reason) ? null : choice.finish_reason
    if (finish !== null && typeof finish !== 'string')
      return malformed('finish_reason is not a string')
    if (choice.finish_reason !== finish) changes.finish_reason = finish
    const known = choices.get(key)
    // An upstream that does not stream sends the whole message.
    const whole = known === undefined && isJsonObject(choice.message) ? choice.message : {}
    const delta = saysNothing(choice.delta) && !isJsonObject(choice.delta) ? whole : choice.delta
    if (!isJsonObject(delta)) return malformed('delta is not an object')
    const begun: Begun = known ?? { isFinished: false }
    if (known === undefined) choices.set(key, begun)
    if (finish !== null) begun.isFinished = true
    let ordinary = finish === null && !isPresent(choice.usage) && known !== undefined
    let exact = exactDelta(delta, known === undefined)
    if (Array.isArray(exact.tool_calls)) {
      begun.place ??= createCallPlaces()
      const { pieces, begun: more, ambiguous } = begun.place(exact.tool_calls)
      if (pieces !== exact.tool_calls) exact = { ...exact, tool_calls: [...pieces] }
      invokedToolCount += more
      if (more > 0 || ambiguous) {
        ordinary = false
        // From here on, similar pieces may belong to another call.
        template.forget()
      }
    }
    if (exact !== choice.delta) changes.delta = exact
    return { changes, ordinary, finished: finish !== null }
  }

  /** A chunk without its standard members. */
  function missingHead({ id, object, created }: JsonObject): JsonObject | undefined {
    const isWhole =
      typeof id === 'string' && object === 'chat.completion.chunk' && typeof created === 'number'
    if (isWhole) {
      head.id = id
      head.created = created
      return undefined
    }
    head.id = typeof id === 'string' ? id : (head.id ?? `chatcmpl-${crypto.randomUUID()}`)
    head.created =
      typeof created === 'number' ? created : (head.created ?? Math.floor(Date.now() / 1000))
    return { id: head.id, object: 'chat.completion.chunk', created: head.created }
  }

  return {
    normalise,
    end() {
      if (!started) {
        state.violated('empty stream', 'the upstream sent no event')
      } else if (choices.size === 0 || [...choices.values()].some((each) => !each.isFinished)) {
        state.violated('premature end', 'no [DONE], and a choice without finish_reason')
      } else {
        state.complete([doneEvent])
      }
    },
    usage: () => usage.usage,
    invokedToolCount: () => invokedToolCount,
  }
}

/** The counters of a chunk, at any of the known places. */
function countersOf(chunk: JsonObject, choices: readonly JsonValue[]): JsonValue | undefined {
  if (!saysNothing(chunk.usage)) return chunk.usage
  for (const choice of choices) {
    if (isJsonObject(choice) && !saysNothing(choice.usage)) return choice.usage
  }
  const { x_groq } = chunk
  return isJsonObject(x_groq) && !saysNothing(x_groq.usage) ? x_groq.usage : undefined
}

/** Whether a chunk without choices has other content: citations, filter results. */
function tellsMore(chunk: JsonObject): boolean {
  if (!Array.isArray(chunk.choices) && chunk.object !== 'chat.completion.chunk') return false
  return Object.entries(chunk).some(([name, value]) => !ENVELOPE.has(name) && !saysNothing(value))
}

/** An error event, or an error object instead of a chunk. */
function isError(chunk: JsonObject): boolean {
  if (!saysNothing(chunk.error) || chunk.object === 'error') return true
  const { type } = chunk
  return (
    typeof type === 'string' &&
    (type === 'error' || (/error$/i.test(type) && !isPresent(chunk.choices)))
  )
}
