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

/** A failure for the caller, in the upstream's own words if it has some. */
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

/** The gateway's code for errors in a stream. */
const IN_BAND = 'upstream_transport'
const TOO_MANY_REQUESTS = 429

/** Agents recognise by this code that they must shorten the conversation. */
function overflowing(error: CallError): CallError {
  if (error.status === TOO_MANY_REQUESTS) return error
  const overflow = contextOverflow([error.code, error.type], error.message)
  return overflow === undefined ? error : { ...error, code: 'context_length_exceeded', overflow }
}

/** An error in the format of most APIs. */
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

/** Events as text of the reply: unchanged events exactly as received. */
export function sseText(events: readonly StreamEvent[]): string {
  let text = ''
  for (const event of events) text += event.raw ?? encodeSse(event.data, event.event)
  return text
}

/** The state of a stream; the rules of its dialect change it. */
export interface StreamState {
  complete(terminal: readonly StreamEvent[]): undefined
  /** Will fail with any input. */
  report(failure: StreamFailure): void
  fail(failure: StreamFailure): undefined
  /** Fails because the upstream broke the protocol. The message begins with the kind of fault. */
  violated(kind: 'empty stream' | 'premature end' | 'malformed event', what: string): undefined
}

/** The rules of a dialect. */
export interface StreamRules {
  /** The event to send now; undefined if none. */
  normalise(event: StreamEvent): StreamEvent | undefined
  /** The upstream ended without closing the stream. */
  end(): void
  usage(): Usage | undefined
  invokedToolCount(): number
  /** The number of the next event, in dialects with numbered events. */
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

/** Batches come from plugins and may be anything. */
function requireBatch(batch: unknown): asserts batch is readonly StreamEvent[] {
  if (Array.isArray(batch) && batch.every(isEvent)) return
  throw new TypeError(
    'a stream yields batches: lists of events that streamEvent or decodeSse makes',
  )
}

/** The event with other data; the rest of its text is kept where that is simple. */
export function withData(event: StreamEvent, data: string): StreamEvent {
  if (data === event.data) return event
  const { raw } = event
  // One line of data at the beginning follows directly after its field name.
  if (raw?.startsWith('data:') && !event.data.includes('\n')) {
    const at = raw.charCodeAt(5) === 32 ? 6 : 5
    const text = raw.slice(0, at) + data + raw.slice(at + event.data.length)
    return streamEvent(data, event.event, text)
  }
  return streamEvent(data, event.event, encodeSse(data, event.event))
}

/** The data as a JSON object; undefined if it is not one. */
export function readObject(event: StreamEvent): JsonObject | undefined {
  const value = readJson(event)
  return isJsonObject(value) ? value : undefined
}

/** Event names and data of keep-alive events. */
const HEARTBEAT = /^\s*"?(?:ping|pong|heart[-_ ]?beat|keep[-_ ]?alive|noop)"?\s*$/i

/** Whether an event without an object is a keep-alive or empty. */
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
