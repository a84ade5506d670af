import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { DialectStream, StreamOptions } from 'model-gateway/surface'
import {
  createDialectStream,
  createUsageTap,
  isHeartbeat,
  isPresent,
  readChatUsage,
  readInBandError,
  readObject,
  type StreamEvent,
  type StreamRules,
  type StreamState,
  saysNothing,
  setMembers,
  strayWords,
  streamEvent,
} from 'model-gateway/wire'
import { DONE, doneEvent, withData } from './shape.ts'

/**
 * A stream of completions with the public model name, with missing members of chunks added, and
 * exactly one `[DONE]`.
 */
export function createCompletionsStream(options: StreamOptions): DialectStream {
  return createDialectStream((state) => completionsRules(state, options))
}

function completionsRules(
  state: StreamState,
  { publicModel, usageUnasked }: StreamOptions,
): StreamRules {
  const usage = createUsageTap(readChatUsage)
  const head = { id: `cmpl-${crypto.randomUUID()}`, created: Math.floor(Date.now() / 1000) }
  /** Whether each choice has ended, by index. */
  const choices = new Map<JsonValue, boolean>()

  function malformed(what: string): undefined {
    return state.violated('malformed event', what)
  }

  function normalise(event: StreamEvent): StreamEvent | undefined {
    if (event.data.trim() === DONE) return state.complete([doneEvent()])
    const chunk = readObject(event)
    if (chunk === undefined) {
      return isHeartbeat(event) ? undefined : malformed('the data is not a JSON object')
    }
    usage.take(chunk.usage, chunk.service_tier)
    if (!saysNothing(chunk.error) || chunk.object === 'error') return failed(event, chunk)
    const { choices: stated } = chunk
    if (!Array.isArray(stated) && !saysNothing(stated)) return malformed('choices is not an array')
    const list = Array.isArray(stated) ? stated : []
    if (list.length === 0 && !isPresent(chunk.usage)) {
      const words = strayWords(chunk)
      return words === '' ? undefined : malformed(`it has no choices${words}`)
    }
    if (list.length === 0 && usageUnasked === true) return undefined
    return exactChunk(event, chunk, list)
  }

  function failed(event: StreamEvent, chunk: JsonObject): StreamEvent {
    const { event: named, failure } = readInBandError(event, chunk, [])
    state.fail(failure)
    if (!saysNothing(chunk.error)) return named
    // Official clients recognize an error by this member.
    const { code, message } = failure
    const error = { message, type: 'upstream_error', code, param: null }
    return withData(named, setMembers(named.data, { error }))
  }

  /** Changes only the model, and adds missing members. */
  function exactChunk(
    event: StreamEvent,
    chunk: JsonObject,
    list: readonly JsonValue[],
  ): StreamEvent | undefined {
    const { id = null, created = null, object, model } = chunk
    const missing: Record<string, JsonValue> = {}
    if (typeof id === 'string') head.id = id
    else missing.id = head.id
    if (typeof created === 'number') head.created = created
    else missing.created = head.created
    if (object !== 'text_completion') missing.object = 'text_completion'
    if (model !== publicModel) missing.model = publicModel
    if (!Array.isArray(chunk.choices)) missing.choices = []
    let data = setMembers(event.data, missing)
    for (const [position, choice] of list.entries()) {
      if (!isJsonObject(choice)) return malformed('a choice is not an object')
      const index = typeof choice.index === 'number' ? choice.index : position
      const finish = saysNothing(choice.finish_reason) ? null : choice.finish_reason
      choices.set(index, choices.get(index) === true || finish !== null)
      const changes: Record<string, JsonValue> = {}
      if (choice.index !== index) changes.index = index
      if (choice.finish_reason !== finish) changes.finish_reason = finish ?? null
      if (typeof choice.text !== 'string') changes.text = ''
      if (choice.logprobs === undefined) changes.logprobs = null
      if (Object.keys(changes).length > 0) data = setMembers(data, changes, ['choices', position])
    }
    return withData(event, data)
  }

  return {
    normalise,
    end() {
      if (choices.size === 0) state.violated('empty stream', 'the upstream sent no choice')
      else if ([...choices.values()].includes(false)) {
        state.violated('premature end', 'no [DONE], and a choice without finish_reason')
      } else state.complete([doneEvent()])
    },
    usage: () => usage.usage,
    invokedToolCount: () => 0,
  }
}

/** The text of one chunk. */
export function textOfChunk(data: string): string {
  const chunk = readObject(streamEvent(data))
  const choices = chunk !== undefined && Array.isArray(chunk.choices) ? chunk.choices : []
  return choices
    .map((choice) => (isJsonObject(choice) && typeof choice.text === 'string' ? choice.text : ''))
    .join('')
}
