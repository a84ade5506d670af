import type { JsonObject } from 'model-gateway/plugin'
import type { DialectStream } from 'model-gateway/surface'
import {
  createDialectStream,
  isHeartbeat,
  isPresent,
  readInBandError,
  readObject,
  type StreamEvent,
  type StreamRules,
  type StreamState,
  streamEvent,
  type Usage,
} from 'model-gateway/wire'

/** An event by its type, which is also its name. */
export function audioEvent(type: string, members: JsonObject): StreamEvent {
  return streamEvent(JSON.stringify({ type, ...members }), type)
}

/** Passes events on; an event of the type `done` ends the stream and has the usage. */
export function createAudioStream(
  done: string,
  usageOf: (event: JsonObject) => Usage | undefined,
): DialectStream {
  return createDialectStream((state) => audioRules(state, done, usageOf))
}

function audioRules(
  state: StreamState,
  done: string,
  usageOf: (event: JsonObject) => Usage | undefined,
): StreamRules {
  let usage: Usage | undefined

  function normalise(event: StreamEvent): StreamEvent | undefined {
    // Some upstreams end it with [DONE], like chat.
    if (event.data.trim() === '[DONE]') return undefined
    const body = readObject(event)
    if (body === undefined) {
      return isHeartbeat(event)
        ? undefined
        : state.violated('malformed event', 'the data is not a JSON object')
    }
    if (isPresent(body.error) || body.type === 'error') {
      const { event: named, failure } = readInBandError(event, body, [])
      state.fail(failure)
      return named
    }
    if (body.type !== done) return event
    usage = usageOf(body)
    return state.complete([event])
  }

  return {
    normalise,
    end: () => state.violated('premature end', `no ${done}`),
    usage: () => usage,
    invokedToolCount: () => 0,
  }
}

/** The objects of events, in order. */
export function bodiesOf(events: readonly StreamEvent[]): JsonObject[] {
  return events.map(readObject).filter((body) => body !== undefined)
}
