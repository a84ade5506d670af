import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import type { StreamEvent } from '../plugin/stream.ts'
import type { DialectStream, StreamFailure, StreamOptions } from '../plugin/surface.ts'
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
import { setMembers } from './json-splice.ts'
import { isToolCallItem } from './reply.ts'
import { createUsageTap, readResponsesUsage } from './usage.ts'

/** What `response.status` must be in the terminal events that end a stream well. */
const COMPLETE: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ['response.completed', 'completed'],
  ['response.incomplete', 'incomplete'],
])

/**
 * Checks a responses stream and passes it on: event names and JSON stay, `response.model` becomes
 * the public model, and one `[DONE]` follows the terminal event of a stream that went well.
 */
export function createResponsesStream({
  publicModel,
}: Pick<StreamOptions, 'publicModel'>): DialectStream {
  return createDialectStream((state) => responsesRules(state, publicModel))
}

function responsesRules(state: StreamState, publicModel: string): StreamRules {
  const usage = createUsageTap(readResponsesUsage)
  const template = createEventTemplate()
  const calls = new Set<JsonValue | undefined>()
  /** What an `error` event said; `response.failed` may say it again, and nothing else follows. */
  let reported: StreamFailure | undefined
  let started = false

  function malformed(what: string): undefined {
    return state.violated('malformed event', what)
  }

  function normalise(event: StreamEvent): StreamEvent | undefined {
    if (reported !== undefined) return afterError(event, reported)
    const alike = template.apply(event)
    if (alike !== undefined) return alike
    if (event.data.trim() === DONE) return end()
    const payload = readObject(event)
    if (payload === undefined) return malformed('the data is not a JSON object')
    started = true
    if (isPresent(payload.choices)) return malformed('a chat chunk in a responses stream')
    const type = payload.type ?? event.event
    if (event.event?.startsWith('response.') && event.event !== type) {
      return malformed('the event name differs from data.type')
    }
    const words = type === undefined ? strayWords(payload) : ''
    if (words !== '') return malformed(`it has no type${words}`)
    return normalisePayload(event, payload, type)
  }

  function normalisePayload(
    event: StreamEvent,
    payload: JsonObject,
    type: JsonValue | undefined,
  ): StreamEvent | undefined {
    const { response } = payload
    if (type === 'error' || isPresent(payload.error)) {
      const inBand = readError(event, payload, [])
      reported = inBand.failure
      state.report(reported)
      return inBand.event
    }
    if (isJsonObject(response)) {
      const named = withPublicModel(event, response)
      if (type === 'response.failed') return failed(named, response)
      return COMPLETE.has(type) ? complete(named, response, type) : named
    }
    if (type === 'response.failed' || COMPLETE.has(type)) {
      return malformed('a terminal event without its response')
    }
    if (type === 'response.output_item.added' || type === 'response.output_item.done') {
      if (isToolCallItem(payload.item)) calls.add(payload.item.id ?? payload.output_index)
    } else {
      template.learn(event, event)
    }
    return event
  }

  function withPublicModel(event: StreamEvent, response: JsonObject): StreamEvent {
    return response.model === undefined || response.model === publicModel
      ? event
      : withData(event, setMembers(event.data, { model: publicModel }, ['response']))
  }

  function readError(event: StreamEvent, owner: JsonObject, path: readonly string[]) {
    usage.take(owner.usage)
    return readInBandError(event, owner, path)
  }

  function failed(event: StreamEvent, response: JsonObject): StreamEvent {
    const inBand = readError(event, response, ['response'])
    state.fail(reported ?? inBand.failure)
    return inBand.event
  }

  function afterError(event: StreamEvent, failure: StreamFailure): StreamEvent | undefined {
    const payload = readObject(event)
    const { type = event.event, response } = payload ?? {}
    return type === 'response.failed' && isJsonObject(response)
      ? failed(withPublicModel(event, response), response)
      : state.fail(failure)
  }

  function complete(event: StreamEvent, response: JsonObject, type: JsonValue | undefined) {
    usage.take(response.usage)
    if (response.status !== COMPLETE.get(type)) return malformed(`${type} with another status`)
    return state.complete([event, doneEvent])
  }

  function end(): undefined {
    if (reported !== undefined) return state.fail(reported)
    return started
      ? state.violated('premature end', 'the stream ended without a terminal event')
      : state.violated('empty stream', 'the upstream sent no event')
  }

  return {
    normalise,
    end,
    usage: () => usage.usage,
    invokedToolCount: () => calls.size,
  }
}
