import { GatewayError } from '../plugin/errors.ts'
import { isJsonObject, type JsonObject } from '../plugin/json.ts'
import { type StreamEvent, streamEvent } from '../plugin/stream.ts'
import type { Usage } from '../plugin/usage.ts'
import { encodeSse } from './sse.ts'

export interface FamilyStreamOptions {
  /** The model that the caller asked for; it replaces the upstream's name everywhere. */
  readonly publicModel: string
}

export interface StreamFailure {
  /** The upstream's own code for an error that it sent in band, else `upstream_transport`. */
  readonly code: string
  readonly message: string
  /** The upstream's error event is among the events already: send no error chunk of our own. */
  readonly forwarded: boolean
}

/**
 * The events of one upstream stream, made fit for the caller: a state machine without I/O. Once
 * `outcome` is no longer `open`, what is pushed is ignored.
 */
export interface FamilyStream {
  /** What may be sent to the caller now; unchanged events are passed on as the same objects. */
  push(batch: readonly StreamEvent[]): StreamEvent[]
  /** Call it when the upstream ended without an error of its own; afterwards nothing is `open`. */
  end(): void
  readonly outcome: 'open' | 'complete' | 'failed'
  /** The events that close a complete stream, `[DONE]` included: send them after settlement. */
  readonly terminal: readonly StreamEvent[]
  /**
   * Set when the outcome is `failed`, or will be: the upstream has reported it, and may say so in
   * one more event.
   */
  readonly failure: StreamFailure | undefined
  /** The latest coherent usage so far. */
  readonly usage: Usage | undefined
  /** Tool calls that began so far. */
  readonly invokedToolCount: number
}

export const DONE = '[DONE]'
export const doneEvent: StreamEvent = streamEvent(DONE, undefined, encodeSse(DONE))

/** An error as callers of all APIs but that of messages read it: the body of a reply, the data of an event. */
export function plainErrorBody(error: GatewayError | StreamFailure, requestId: string): JsonObject {
  const own = error instanceof GatewayError ? error : { type: 'upstream_error', details: {} }
  return {
    error: {
      message: error.message,
      type: own.type,
      code: error.code,
      param: null,
      ...own.details,
      request_id: requestId,
    },
  }
}

/** The event that ends a failed stream, as SSE text. */
export function errorChunk(error: GatewayError | StreamFailure, requestId: string): string {
  return encodeSse(JSON.stringify(plainErrorBody(error, requestId)))
}

/** Events as the bytes of the reply, still text: exactly as they came where nothing changed. */
export function sseText(events: readonly StreamEvent[]): string {
  let text = ''
  for (const event of events) text += event.raw ?? encodeSse(event.data, event.event)
  return text
}

/** Where a stream stands; the rules of its family move it. */
export interface StreamState {
  complete(terminal: readonly StreamEvent[]): undefined
  /** Will fail, whatever comes. */
  report(failure: StreamFailure): void
  fail(failure: StreamFailure): undefined
  /** Fails: the upstream broke the protocol. The message begins with the kind of fault. */
  violated(kind: 'empty stream' | 'premature end' | 'malformed event', what: string): undefined
}

/** What differs between the families. */
export interface StreamRules {
  /** The event as it may be sent now; undefined when there is nothing to send. */
  normalise(event: StreamEvent): StreamEvent | undefined
  /** The upstream ended and nothing had closed the stream. */
  end(): void
  usage(): Usage | undefined
  invokedToolCount(): number
}

export function createFamilyStream(rulesFor: (state: StreamState) => StreamRules): FamilyStream {
  let outcome: FamilyStream['outcome'] = 'open'
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
  try {
    const value = event.json()
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
