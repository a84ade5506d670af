import type { Settlement } from './accounting.ts'
import type { Principal } from './identity.ts'
import type { Family } from './route.ts'
import type { Usage } from './usage.ts'

export type Outcome =
  | 'success'
  | 'budget_error'
  | 'invalid_request'
  | 'upstream_error'
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
  readonly errorCode: string | undefined
  readonly errorMessage: string | undefined
}

/** All that one inference request caused, handed out once, when it is over. */
export interface ExchangeRecord {
  readonly requestId: string
  readonly receivedAt: Date
  readonly operation: Family
  readonly stream: boolean
  readonly configVersion: string
  /** Absent when authentication failed. */
  readonly principal: Principal | undefined
  readonly requestedModel: string | undefined
  readonly resolvedModel: string | undefined
  readonly provider: string | undefined
  readonly upstreamModel: string | undefined
  readonly statusCode: number
  readonly outcome: Outcome
  readonly errorCode: string | undefined
  readonly errorMessage: string | undefined
  readonly latencyMs: number
  readonly usage: Usage | undefined
  readonly settlement: Settlement | undefined
  readonly attempts: readonly Attempt[]
  readonly userAgent: string | undefined
  /** Shallow count of request tools; undefined for embeddings and unread bodies. */
  readonly exposedToolCount: number | undefined
  /** Tool calls in the reply; undefined when the dimension does not exist. */
  readonly invokedToolCount: number | undefined
}

/** Told of every finished exchange. It must return at once; its faults are never the caller's. */
export interface ExchangeRecorder {
  record(exchange: ExchangeRecord): void
}
