import type { Settlement } from './accounting.ts'
import type { Principal } from './identity.ts'
import type { JsonObject, JsonValue } from './json.ts'
import type { StreamEvent } from './stream.ts'
import type { Usage } from './usage.ts'

export type Outcome =
  | 'success'
  | 'budget_error'
  | 'invalid_request'
  | 'upstream_error'
  | 'guardrail_denied'
  | 'client_abort'
  | 'internal_error'

export type AttemptStatus =
  | 'success'
  | 'provider_error'
  | 'stream_start_error'
  | 'stream_error'
  | 'client_abort'

/** One call of an upstream. */
export interface Attempt {
  readonly provider: string
  readonly providerType: string
  readonly routeId: string
  readonly upstreamModel: string
  readonly startedAt: Date
  readonly status: AttemptStatus
  /** Milliseconds from dispatch to the end. */
  readonly latencyMs: number
  /** Milliseconds from dispatch to the first result; undefined when none came. */
  readonly firstByteMs: number | undefined
  /** Status of the upstream's answer, if known. */
  readonly upstreamStatus: number | undefined
  /** Request id of the upstream, if known. */
  readonly upstreamRequestId?: string | undefined
  readonly errorCode: string | undefined
  readonly errorMessage: string | undefined
}

/** Tags that the caller set by header. */
export interface RequestTags {
  readonly service: string | undefined
  readonly component: string | undefined
  readonly env: string | undefined
  /** At most five, in the caller's order. */
  readonly custom: readonly { readonly key: string; readonly value: string }[]
}

/** The reply as sent to the caller, before any redaction. */
export type SentResponse =
  | {
      readonly kind: 'buffered'
      readonly body: JsonValue
      /** Size of the body on the wire, if counted, because measuring takes long. */
      readonly bytes?: number | undefined
    }
  | {
      readonly kind: 'stream'
      /** The first events, up to the limit of the recorders. */
      readonly events: readonly StreamEvent[]
      /** Number of events, including terminal ones. */
      readonly eventCount: number
      /** The error that ended it, as the caller saw it. */
      readonly error: { readonly code: string; readonly message: string } | undefined
    }

/**
 * Everything about one finished inference request. All recorders get the same object: copy it
 * before you change it.
 */
export interface ExchangeRecord {
  readonly requestId: string
  /** The caller's id for the call, `x-client-request-id`. */
  readonly clientRequestId?: string | undefined
  readonly receivedAt: Date
  readonly operation: string
  /** The caller's API: equal to `operation`, unless another API is converted to it. */
  readonly surface: string
  /** The canonical path of that API. */
  readonly path: string
  readonly stream: boolean
  readonly configVersion: string
  /** Absent when authentication failed. */
  readonly principal: Principal | undefined
  /** The requested model, alias or tag selector in canonical spelling: tags sorted and unique. */
  readonly requestedModel: string | undefined
  /** The requested model or alias, or the one that the tag selector chose. */
  readonly selectedModel?: string | undefined
  /** The executing model: `selectedModel`, or the end of its alias chain. */
  readonly resolvedModel: string | undefined
  readonly provider: string | undefined
  readonly upstreamModel: string | undefined
  readonly statusCode: number
  readonly outcome: Outcome
  readonly errorCode: string | undefined
  readonly errorMessage: string | undefined
  readonly latencyMs: number
  readonly usage: Usage | undefined
  /** False for calls that cost nothing. Absent: true. */
  readonly priced?: boolean
  readonly settlement: Settlement | undefined
  readonly attempts: readonly Attempt[]
  readonly userAgent: string | undefined
  readonly tags: RequestTags
  /** Dropped members of the request; see `ProviderCall.dropped`. */
  readonly dropped?: readonly string[]
  /** The caller's headers, names in lower case, including secrets. */
  requestHeaders(): Readonly<Record<string, string>>
  /** The caller's body as read by the surface; undefined if it could not be read. */
  readonly requestBody: JsonObject | undefined
  readonly response: SentResponse
  /** Number of tools in the request; undefined for embeddings and unread bodies. */
  readonly exposedToolCount: number | undefined
  /** Tool calls in the reply; undefined if the API has none. */
  readonly invokedToolCount: number | undefined
}

/** Called for each finished exchange. Must return at once; its errors never reach the caller. */
export interface ExchangeRecorder {
  /** How many events of a stream it needs. Default 0. */
  streamEventLimit?(): number
  record(exchange: ExchangeRecord): void
}
