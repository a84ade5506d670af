import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import { type StreamEvent, streamEvent } from '../plugin/stream.ts'
import type { DialectStream, StreamFailure, StreamOptions } from '../plugin/surface.ts'
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
import { saysNothing } from './is-present.ts'
import { setMembers } from './json-splice.ts'
import { isToolCallItem } from './reply.ts'
import { CANCELLED, type End, endOf, itemChanges, responseChanges } from './responses-exact.ts'
import { encodeSse } from './sse.ts'
import { createUsageTap, readResponsesUsage } from './usage.ts'
import { toolsUsed } from './usage-extras.ts'

/**
 * Checks and normalises a responses stream: event names and JSON are kept, `response.model` becomes
 * the public model, and missing members that clients need are added. The last event is named after
 * its status, and one `[DONE]` follows a successful stream.
 */
export function createResponsesStream({
  publicModel,
}: Pick<StreamOptions, 'publicModel'>): DialectStream {
  return createDialectStream((state) => responsesRules(state, publicModel))
}

/** Official clients refuse such an event without `logprobs`: openai/openai-python#2489. */
const TEXT_EVENTS: ReadonlySet<string> = new Set([
  'response.output_text.delta',
  'response.output_text.done',
])

function responsesRules(state: StreamState, publicModel: string): StreamRules {
  const usage = createUsageTap(readResponsesUsage)
  const template = createEventTemplate(takeNumber)
  const calls = new Set<JsonValue | undefined>()
  /** Finished items, for a last event that does not repeat them. */
  const items = new Map<JsonValue | undefined, JsonObject>()
  /** Members that all events of one response repeat. */
  let head: JsonObject = {}
  /** The error of an `error` event; `response.failed` may repeat it, and nothing else follows. */
  let reported: StreamFailure | undefined
  let started = false
  /** The last forwarded event, and the number after its own once that was read. */
  let last: StreamEvent | undefined
  let next: number | undefined

  function malformed(what: string): undefined {
    return state.violated('malformed event', what)
  }

  function nextNumber(): number {
    const number = next ?? (last && readObject(last)?.sequence_number)
    next ??= typeof number === 'number' ? number + 1 : 0
    return next
  }

  function takeNumber(): number {
    const number = nextNumber()
    next = number + 1
    return number
  }

  function normalise(event: StreamEvent): StreamEvent | undefined {
    if (reported !== undefined) return afterError(event, reported)
    const before = next
    const alike = template.apply(event)
    if (alike !== undefined) {
      // It keeps its number, unless that was used.
      if (next === before) next = undefined
      last = alike
      return alike
    }
    if (event.data.trim() === DONE) return end()
    const payload = readObject(event)
    if (payload === undefined) {
      return isHeartbeat(event) ? undefined : malformed('the data is not a JSON object')
    }
    return normalisePayload(event, payload)
  }

  function normalisePayload(event: StreamEvent, payload: JsonObject): StreamEvent | undefined {
    if (!saysNothing(payload.choices)) return malformed('a chat chunk in a responses stream')
    const { response, item, output_index } = payload
    const type = saysNothing(payload.type) ? event.event : payload.type
    const told = isJsonObject(response) ? response : {}
    const ending = typeof type === 'string' ? endOf(type, told) : undefined
    if (type === 'error' || (!saysNothing(payload.error) && ending !== 'failed')) {
      return readError(event, payload)
    }
    if (typeof type !== 'string') {
      const words = strayWords(payload)
      return words === '' ? undefined : malformed(`it has no type${words}`)
    }
    started = true
    if (ending !== undefined) return conclude(event, payload, told, ending)
    if (isJsonObject(response)) {
      return write(event, payload, type, 'response', withHead(response, {}))
    }
    if (!isJsonObject(item)) {
      const passed = write(event, payload, type)
      template.learn(event, passed)
      return passed
    }
    const isDone = type === 'response.output_item.done'
    if (isDone || type === 'response.output_item.added') {
      if (isToolCallItem(item)) calls.add(item.id ?? output_index)
    }
    const changes = itemChanges(item, output_index, isDone ? 'completed' : 'in_progress')
    if (isDone) items.set(output_index ?? item.id, { ...item, ...changes })
    return write(event, payload, type, 'item', changes)
  }

  /** Changes to a response inside an event. */
  function withHead(response: JsonObject, known: JsonObject): JsonObject {
    const changes = responseChanges(response, { ...head, ...known, model: publicModel })
    const { id = response.id, created_at = response.created_at } = changes
    head = { id, created_at }
    return changes
  }

  /** The event with its type, a number, and `changes` in its member `part`. */
  function write(
    event: StreamEvent,
    payload: JsonObject,
    type: string,
    part?: string,
    changes: JsonObject = {},
  ): StreamEvent {
    let { data } = event
    if (part !== undefined && Object.keys(changes).length > 0) {
      data = isJsonObject(payload[part])
        ? setMembers(data, changes, [part])
        : setMembers(data, { [part]: changes })
    }
    if (payload.type !== type) data = setMembers(data, { type })
    if (TEXT_EVENTS.has(type) && payload.logprobs === undefined)
      data = setMembers(data, { logprobs: [] })
    const { sequence_number } = payload
    if (typeof sequence_number === 'number') next = sequence_number + 1
    else data = setMembers(data, { sequence_number: takeNumber() })
    last =
      event.event === undefined || event.event === type
        ? withData(event, data)
        : streamEvent(data, type, encodeSse(data, type))
    return last
  }

  function conclude(
    event: StreamEvent,
    payload: JsonObject,
    response: JsonObject,
    status: End,
  ): StreamEvent | undefined {
    const output = [...items.values()]
    const told = Array.isArray(response.output) && response.output.length > 0
    const tools = toolsUsed(told ? (response.output as JsonValue[]) : output)
    usage.take(response.usage, response.service_tier, tools)
    const changes = withHead(response, { status, output })
    const end = (shown: StreamEvent) =>
      write(shown, payload, `response.${status}`, 'response', changes)
    if (status === 'completed' || status === 'incomplete') {
      return state.complete([end(event), doneEvent])
    }
    const inBand = readInBandError(event, response, ['response'])
    state.fail(reported ?? (status === 'failed' ? inBand.failure : CANCELLED))
    return end(inBand.event)
  }

  function readError(event: StreamEvent, payload: JsonObject): StreamEvent {
    usage.take(payload.usage)
    const inBand = readInBandError(event, payload, [])
    reported = inBand.failure
    state.report(reported)
    const { code, message } = reported
    const told = typeof payload.message === 'string' ? {} : { code, message }
    const shown = withData(inBand.event, setMembers(inBand.event.data, told))
    return write(shown, payload, 'error')
  }

  function afterError(event: StreamEvent, failure: StreamFailure): StreamEvent | undefined {
    const payload = readObject(event) ?? {}
    const { type = event.event, response } = payload
    return type === 'response.failed' && isJsonObject(response)
      ? conclude(event, payload, response, 'failed')
      : state.fail(failure)
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
    nextNumber,
  }
}
