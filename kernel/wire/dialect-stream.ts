import { GatewayError } from '../plugin/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import { type StreamEvent, streamEvent } from '../plugin/stream.ts'
import type { CallError, DialectStream, StreamFailure, WireError } from '../plugin/surface.ts'
import type { Usage } from '../plugin/usage.ts'
import { contextOverflow } from './context-overflow.ts'
import { saysNothing } from './is-present.ts'
import { encodeSse } from './sse.ts'

export const DONE = '[DONE]'
export const doneEvent: StreamEvent = streamEvent(DONE, undefined, encodeSse(DONE))

/** A failure as its caller reads it: in the upstream's own words, where it has some. */
export function callError(error: GatewayError | StreamFailure): CallError {
  const { code, message, type } = error
  if (!(error instanceof GatewayError)) {
    const known = code === IN_BAND ? {} : { gatewayCode: IN_BAND }
    return overflowing({ code, message, type, param: error.param, ...known })
  }
  const { status, details, upstream } = error
  const own = { code, message, type, status, details }
  if (type !== 'upstream_error') return own
  return overflowing({
    ...own,
    code: upstream.code ?? code,
    type: upstream.type ?? type,
    param: upstream.param,
    gatewayCode: code,
  })
}

/** What the gateway calls errors that come in a stream. */
const IN_BAND = 'upstream_transport'
const TOO_MANY_REQUESTS = 429

/** Agents know by one code that they have to shorten the conversation. */
function overflowing(error: CallError): CallError {
  if (error.status === TOO_MANY_REQUESTS) return error
  const overflow = contextOverflow([error.code, error.type], error.message)
  return overflow === undefined ? error : { ...error, code: 'context_length_exceeded', overflow }
}

/** An error as most APIs have it. */
export function plainError(error: CallError, requestId: string): WireError {
  const body = {
    error: {
      message: error.message,
      type: error.type ?? 'upstream_error',
      code: error.code,
      ...(error.gatewayCode !== undefined && { gateway_code: error.gatewayCode }),
      param: error.param ?? null,
      ...error.details,
      request_id: requestId,
    },
  }
  return { body, event: encodeSse(JSON.stringify(body)) }
}

/** Events as the bytes of the reply, still text: exactly as they came where nothing changed. */
export function sseText(events: readonly StreamEvent[]): string {
  let text = ''
  for (const event of events) text += event.raw ?? encodeSse(event.data, event.event)
  return text
}

/** Where a stream stands; the rules of its dialect move it. */
export interface StreamState {
  complete(terminal: readonly StreamEvent[]): undefined
  /** Will fail, whatever comes. */
  report(failure: StreamFailure): void
  fail(failure: StreamFailure): undefined
  /** Fails: the upstream broke the protocol. The message begins with the kind of fault. */
  violated(kind: 'empty stream' | 'premature end' | 'malformed event', what: string): undefined
}

/** What differs between the dialects. */
export interface StreamRules {
  /** The event as it may be sent now; undefined when there is nothing to send. */
  normalise(event: StreamEvent): StreamEvent | undefined
  /** The upstream ended and nothing had closed the stream. */
  end(): void
  usage(): Usage | undefined
  invokedToolCount(): number
  /** The number of the next event, where events have one. */
  nextNumber?(): number
}

export function createDialectStream(rulesFor: (state: StreamState) => StreamRules): DialectStream {
  let outcome: DialectStream['outcome'] = 'open'
  let terminal: readonly StreamEvent[] = []
  let failure: StreamFailure | undefined

  const state: StreamState = {
    complete(events) {
      outcome = 'complete'
      terminal = events
    },
    report(fault) {
      failure = fault
    },
    fail(fault) {
      outcome = 'failed'
      failure = fault
    },
    violated(kind, what) {
      const message = `${kind}: ${what}`
      return state.fail({ code: 'upstream_transport', message, forwarded: false })
    },
  }
  const rules = rulesFor(state)

  return {
    push(batch) {
      requireBatch(batch)
      const out: StreamEvent[] = []
      for (const event of batch) {
        if (outcome !== 'open') break
        const normalised = rules.normalise(event)
        if (normalised !== undefined) out.push(normalised)
      }
      return out
    },
    end() {
      if (outcome === 'open') rules.end()
    },
    get outcome() {
      return outcome
    },
    get terminal() {
      return terminal
    },
    get failure() {
      return failure
    },
    get usage() {
      return rules.usage()
    },
    get invokedToolCount() {
      return rules.invokedToolCount()
    },
    get nextNumber() {
      return rules.nextNumber?.()
    },
  }
}

const isEvent = (event: Partial<StreamEvent> | undefined) => typeof event?.data === 'string'

/** Plugins yield batches: what comes may be anything. */
function requireBatch(batch: unknown): asserts batch is readonly StreamEvent[] {
  if (Array.isArray(batch) && batch.every(isEvent)) return
  throw new TypeError(
    'a stream yields batches: lists of events that streamEvent or decodeSse makes',
  )
}

/** An event with other data; the rest of its text stays as it was where that is simple. */
export function withData(event: StreamEvent, data: string): StreamEvent {
  if (data === event.data) return event
  const { raw } = event
  // One line of data, and it comes first: then it stands right behind its field name.
  if (raw?.startsWith('data:') && !event.data.includes('\n')) {
    const at = raw.charCodeAt(5) === 32 ? 6 : 5
    const text = raw.slice(0, at) + data + raw.slice(at + event.data.length)
    return streamEvent(data, event.event, text)
  }
  return streamEvent(data, event.event, encodeSse(data, event.event))
}

/** The data as a JSON object; undefined when it is none. */
export function readObject(event: StreamEvent): JsonObject | undefined {
  const value = readJson(event)
  return isJsonObject(value) ? value : undefined
}

/** Words that keep a connection open, as names of events and as their data. */
const HEARTBEAT = /^\s*"?(?:ping|pong|heart[-_ ]?beat|keep[-_ ]?alive|noop)"?\s*$/i

/** Whether an event that holds no object is there to keep the connection open, or holds nothing. */
export function isHeartbeat(event: StreamEvent): boolean {
  if (HEARTBEAT.test(event.data) || HEARTBEAT.test(event.event ?? '')) return true
  const value = readJson(event)
  return value !== undefined && saysNothing(value)
}

function readJson(event: StreamEvent): JsonValue | undefined {
  try {
    return event.json()
  } catch {
    return undefined
  }
}
