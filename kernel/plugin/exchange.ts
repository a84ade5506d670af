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

/** One execution against an upstream. */
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
  /** Status the upstream answered with, when it is known. */
  readonly upstreamStatus: number | undefined
  /** What the upstream calls the call, when it says so. */
  readonly upstreamRequestId?: string | undefined
  readonly errorCode: string | undefined
  readonly errorMessage: string | undefined
}

/** What the caller said of a request, by header. */
export interface RequestTags {
  readonly service: string | undefined
  readonly component: string | undefined
  readonly env: string | undefined
  /** At most five, in the caller's order. */
  readonly custom: readonly { readonly key: string; readonly value: string }[]
}

/** What the caller was sent, before any redaction. */
export type SentResponse =
  | {
      readonly kind: 'buffered'
      readonly body: JsonValue
      /** What the body took on the wire, where that was counted: to measure it takes long. */
      readonly bytes?: number | undefined
    }
  | {
      readonly kind: 'stream'
      /** The first events, as many as the recorders asked for. */
      readonly events: readonly StreamEvent[]
      /** How many there were in all, terminal ones included. */
      readonly eventCount: number
      /** The error that ended it, as the caller saw it. */
      readonly error: { readonly code: string; readonly message: string } | undefined
    }

/**
 * All that one inference request caused, handed out once, when it is over. All recorders are given
 * the same object: whoever leaves something out makes a copy.
 */
export interface ExchangeRecord {
  readonly requestId: string
  /** The caller's own name for the call, `x-client-request-id`. */
  readonly clientRequestId?: string | undefined
  readonly receivedAt: Date
  readonly operation: string
  /** The API in which the caller speaks: `operation`, unless another API leads to it. */
  readonly surface: string
  /** The path by which that API is known. */
  readonly path: string
  readonly stream: boolean
  readonly configVersion: string
  /** Absent when authentication failed. */
  readonly principal: Principal | undefined
  /** A model, an alias or a tag selector in its one spelling: its tags sorted, each once. */
  readonly requestedModel: string | undefined
  /** The model or alias that was asked for, or that the tag selector picked. */
  readonly selectedModel?: string | undefined
  /** The model that executes: `selectedModel`, or the end of its alias chain. */
  readonly resolvedModel: string | undefined
  readonly provider: string | undefined
  readonly upstreamModel: string | undefined
  readonly statusCode: number
  readonly outcome: Outcome
  readonly errorCode: string | undefined
  readonly errorMessage: string | undefined
  readonly latencyMs: number
  readonly usage: Usage | undefined
  /** False for calls that cost nothing, whatever becomes of them. Absent: true. */
  readonly priced?: boolean
  readonly settlement: Settlement | undefined
  readonly attempts: readonly Attempt[]
  readonly userAgent: string | undefined
  readonly tags: RequestTags
  /** Members of the request that its route was not sent, as `ProviderCall.dropped` has them. */
  readonly dropped?: readonly string[]
  /** The caller's headers, names in lower case; secrets are still in them. */
  requestHeaders(): Readonly<Record<string, string>>
  /** The caller's body, as the surface has it; undefined when it could not be read. */
  readonly requestBody: JsonObject | undefined
  readonly response: SentResponse
  /** Shallow count of request tools; undefined for embeddings and unread bodies. */
  readonly exposedToolCount: number | undefined
  /** Tool calls in the reply; undefined when the dimension does not exist. */
  readonly invokedToolCount: number | undefined
}

/** Told of every finished exchange. It must return at once; its faults are never the caller's. */
export interface ExchangeRecorder {
  /** How many events of a stream it wants to see. Default 0. */
  streamEventLimit?(): number
  record(exchange: ExchangeRecord): void
}
