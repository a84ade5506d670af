import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import type { StreamEvent } from '../plugin/stream.ts'
import type { DialectStream, StreamOptions } from '../plugin/surface.ts'
import {
  createDialectStream,
  DONE,
  doneEvent,
  readObject,
  type StreamRules,
  type StreamState,
  withData,
} from './dialect-stream.ts'
import { createEventTemplate } from './event-template.ts'
import { readInBandError, strayWords } from './in-band-error.ts'
import { isPresent } from './is-present.ts'
import { setMembers, setModel } from './json-splice.ts'
import { createUsageTap, readChatUsage } from './usage.ts'

/**
 * Normalises a chat completions stream: the public model in every chunk, usage at the top level,
 * `delta.reasoning` under its canonical name, exactly one `[DONE]`.
 */
export function createChatStream(options: StreamOptions): DialectStream {
  return createDialectStream((state) => chatRules(state, options))
}

function chatRules(state: StreamState, { publicModel, native }: StreamOptions): StreamRules {
  const usage = createUsageTap(readChatUsage)
  const template = createEventTemplate()
  /** Whether each choice seen has its finish_reason. */
  const choices = new Map<JsonValue, boolean>()
  /** Ids of the tool calls that began, by choice and index. */
  const calls = new Map<string, Set<string>>()
  let invokedToolCount = 0
  let started = false

  function malformed(what: string): undefined {
    return state.violated('malformed event', what)
  }

  function normalise(event: StreamEvent): StreamEvent | undefined {
    const alike = template.apply(event)
    if (alike !== undefined) return alike
    if (event.data.trim() === DONE) return state.complete([doneEvent])
    const chunk = readObject(event)
    if (chunk === undefined) return malformed('the data is not a JSON object')
    started = true
    return isError(chunk) ? forwardError(event, chunk) : normaliseChunk(event, chunk)
  }

  function forwardError(event: StreamEvent, chunk: JsonObject): StreamEvent {
    usage.take(chunk.usage)
    const inBand = readInBandError(event, chunk, [])
    state.fail(inBand.failure)
    const named = inBand.event
    return chunk.model === undefined || chunk.model === publicModel
      ? named
      : withData(named, setModel(named.data, chunk.model, publicModel))
  }

  function normaliseChunk(event: StreamEvent, chunk: JsonObject): StreamEvent | undefined {
    // Before anything is found wrong with the chunk: the upstream charges what it counts.
    usage.take(chunk.usage)
    const list = chunk.choices ?? (isPresent(chunk.usage) ? [] : undefined)
    if (!Array.isArray(list)) return malformed(`choices is not an array${strayWords(chunk)}`)
    /** No state came of the event: others like it need not be read. */
    let ordinary = list.length > 0 && !isPresent(chunk.usage)
    let data = event.data
    let counters = chunk.usage ?? undefined
    let finished = list.length === 0
    for (const [position, choice] of list.entries()) {
      if (!isJsonObject(choice)) return malformed('a choice is not an object')
      const key = choice.index ?? position
      const finish = choice.finish_reason ?? null
      if (finish === null) {
        if (!choices.has(key)) choices.set(key, false)
      } else {
        if (typeof finish !== 'string' || finish === '') {
          return malformed('finish_reason is neither null nor a non-empty string')
        }
        choices.set(key, true)
        finished = true
        ordinary = false
      }
      if (isPresent(choice.usage)) {
        ordinary = false
        counters ??= choice.usage
      }
      const { delta } = choice
      if (!isJsonObject(delta)) continue
      if (countCalls(key, delta.tool_calls)) ordinary = false
      const reasoning = delta.reasoning_content ?? delta.reasoning_text
      if (isPresent(reasoning) && !isPresent(delta.reasoning)) {
        data = setMembers(data, { reasoning }, ['choices', position, 'delta'])
      }
    }
    if (counters !== undefined && !isPresent(chunk.usage)) {
      usage.take(counters)
      data = setMembers(data, { usage: counters })
    }
    // In OpenAI's own streams they come once, and clients such as LangChain add up what they are told.
    if (counters !== undefined && !native && !finished) data = setMembers(data, { usage: null })
    if (chunk.model !== publicModel) data = setModel(data, chunk.model, publicModel)
    const normalised = withData(event, data)
    if (ordinary) template.learn(event, normalised)
    return normalised
  }

  /** True when a call began. Upstreams that give every call index 0 tell them apart by id. */
  function countCalls(choice: JsonValue, list: JsonValue | undefined): boolean {
    if (!Array.isArray(list)) return false
    const before = invokedToolCount
    for (const [position, call] of list.entries()) {
      if (!isJsonObject(call)) continue
      const slot = `${choice} ${call.index ?? position}`
      const ids = calls.get(slot)
      const id = typeof call.id === 'string' && call.id !== '' ? call.id : undefined
      if (ids === undefined) {
        calls.set(slot, new Set(id === undefined ? [] : [id]))
        invokedToolCount++
      } else if (id !== undefined && !ids.has(id)) {
        // The first id may come late; a second one is a second call.
        if (ids.size > 0) invokedToolCount++
        ids.add(id)
      }
    }
    return invokedToolCount > before
  }

  return {
    normalise,
    end() {
      if (!started) {
        state.violated('empty stream', 'the upstream sent no event')
      } else if (choices.size === 0 || [...choices.values()].includes(false)) {
        state.violated('premature end', 'no [DONE], and a choice without finish_reason')
      } else {
        state.complete([doneEvent])
      }
    },
    usage: () => usage.usage,
    invokedToolCount: () => invokedToolCount,
  }
}

function isError(chunk: JsonObject): boolean {
  return isPresent(chunk.error) || chunk.type === 'error'
}
