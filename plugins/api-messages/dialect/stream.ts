import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { DialectStream, StreamOptions } from 'model-gateway/surface'
import {
  createDialectStream,
  createUsageTap,
  isHeartbeat,
  isPresent,
  readInBandError,
  readMessagesUsage,
  readObject,
  type StreamEvent,
  type StreamRules,
  type StreamState,
  setMembers,
  strayWords,
  streamEvent,
} from 'model-gateway/wire'
import { isToolUse } from './reply.ts'

/**
 * Checks a stream of the messages API and passes each event on unchanged, except for the model's
 * name and missing event names. `message_stop` waits for settlement.
 */
export function createNativeStream({
  publicModel,
}: Pick<StreamOptions, 'publicModel'>): DialectStream {
  return createDialectStream((state) => messagesRules(state, publicModel))
}

/** Events without facts about the call; most of a stream. */
const PASSED: ReadonlySet<string | undefined> = new Set([
  'content_block_delta',
  'content_block_stop',
  'ping',
])

function messagesRules(state: StreamState, publicModel: string): StreamRules {
  const usage = createUsageTap(readMessagesUsage)
  let counters: JsonObject = {}
  let toolCount = 0
  let started = false

  function malformed(what: string): undefined {
    return state.violated('malformed event', what)
  }

  function count(more: JsonValue | undefined): void {
    counters = mergeCounters(counters, more)
    usage.take(counters)
  }

  function normalise(event: StreamEvent): StreamEvent | undefined {
    if (PASSED.has(event.event) && isWhole(event.data)) return event
    const payload = readObject(event)
    if (payload === undefined) {
      return isHeartbeat(event) ? undefined : malformed('the data is not a JSON object')
    }
    const type = typeof payload.type === 'string' ? payload.type : event.event
    if (type === 'error' || isPresent(payload.error)) return fail(event, payload)
    const named = type === event.event ? event : streamEvent(event.data, type)
    switch (type) {
      case undefined: {
        const words = strayWords(payload)
        return words === '' ? undefined : malformed(`it has no type${words}`)
      }
      case 'message_start':
        return start(event, payload)
      case 'content_block_start':
        if (isToolUse(payload.content_block)) toolCount++
        return named
      case 'message_delta':
        count(payload.usage)
        return named
      case 'message_stop':
        return state.complete([named])
      default:
        return named
    }
  }

  /** Some upstreams send it twice, which clients read as a nested message. */
  function start(event: StreamEvent, payload: JsonObject): StreamEvent | undefined {
    const { message } = payload
    if (!isJsonObject(message)) return malformed('message is not an object')
    count(message.usage)
    if (started) return undefined
    started = true
    return streamEvent(setMembers(event.data, { model: publicModel }, ['message']), 'message_start')
  }

  function fail(event: StreamEvent, payload: JsonObject): StreamEvent {
    const inBand = readInBandError(event, payload, [])
    state.fail(inBand.failure)
    return streamEvent(inBand.event.data, 'error')
  }

  return {
    normalise,
    end: () =>
      started
        ? state.violated('premature end', 'no message_stop')
        : state.violated('empty stream', 'the upstream sent no message_start'),
    usage: () => usage.usage,
    invokedToolCount: () => toolCount,
  }
}

/** A quick check for one JSON object; its reader validates the content. */
function isWhole(data: string): boolean {
  return data.startsWith('{') && data.endsWith('}')
}

/** Counters are cumulative, so the greatest value applies; a missing one changes nothing. */
export function mergeCounters(counters: JsonObject, more: JsonValue | undefined): JsonObject {
  if (!isJsonObject(more)) return counters
  const merged: Record<string, JsonValue | undefined> = { ...counters }
  for (const [name, value] of Object.entries(more)) {
    if (!isPresent(value)) continue
    const before = merged[name]
    merged[name] =
      typeof value === 'number' && typeof before === 'number' ? Math.max(value, before) : value
  }
  return merged as JsonObject
}

/** The output in the data of one event: text, reasoning, tool calls. */
export function textOfEvent(data: string): string {
  let event: JsonValue
  try {
    event = JSON.parse(data)
  } catch {
    return ''
  }
  if (!isJsonObject(event)) return ''
  const { delta, content_block: block } = event
  const said = isJsonObject(delta)
    ? [delta.text, delta.thinking, delta.partial_json]
    : isJsonObject(block)
      ? [block.text, block.thinking, block.name]
      : []
  return said.filter((text) => typeof text === 'string').join('')
}
