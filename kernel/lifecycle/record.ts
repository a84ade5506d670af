import {
  type Attempt,
  type ExchangeRecord,
  GatewayError,
  type Outcome,
  type SentResponse,
  type Settlement,
  type Usage,
} from '../plugin/index.ts'
import { nextTurn } from '../plugin/turn.ts'
import type { StreamFailure } from '../wire/family-stream.ts'
import { noTags } from '../wire/tags.ts'
import type { Admitted, LifecycleServices, Received } from './exchange.ts'

/** As far as an exchange got. */
export type Reached = Received & Partial<Omit<Admitted, keyof Received>>

export interface Ending {
  readonly statusCode: number
  readonly outcome: Outcome
  readonly error?: { readonly code: string; readonly message: string } | undefined
  readonly usage?: Usage | undefined
  readonly settlement?: Settlement | undefined
  readonly attempts: readonly Attempt[]
  readonly invokedToolCount?: number | undefined
  readonly response: SentResponse
}

/**
 * Closes an exchange: tells every recorder and gives its config back, in the next turn. Faults of
 * recorders go to the log, never to the caller.
 */
export function record(reached: Reached, ending: Ending, services: LifecycleServices): void {
  const { spec } = reached.route ?? {}
  const exchange: ExchangeRecord = {
    requestId: reached.requestId,
    receivedAt: reached.receivedAt,
    operation: reached.family,
    apiSurface: reached.apiSurface,
    stream: reached.stream ?? false,
    configVersion: reached.lease.runtime.configVersion,
    principal: reached.principal,
    requestedModel: reached.selector,
    selectedModel: reached.model?.id,
    resolvedModel: reached.executionModel?.id,
    provider: spec?.provider,
    upstreamModel: spec?.upstreamModel,
    statusCode: ending.statusCode,
    outcome: ending.outcome,
    errorCode: ending.error?.code,
    errorMessage: ending.error?.message,
    latencyMs: performance.now() - reached.startedAt,
    usage: ending.usage,
    settlement: ending.settlement,
    attempts: ending.attempts,
    userAgent: reached.header('user-agent') ?? undefined,
    tags: reached.tags ?? noTags,
    requestHeaders: reached.headers,
    requestBody: reached.loggedBody ?? reached.json,
    response: ending.response,
    exposedToolCount: reached.exposedToolCount,
    invokedToolCount: ending.invokedToolCount,
  }
  void nextTurn().then(() => {
    for (const recorder of services.recorders) {
      try {
        recorder.record(exchange)
      } catch (error) {
        services.fault('a recorder failed', error, reached.requestId)
      }
    }
    reached.trace.finished(exchange)
    reached.lease.release()
  })
}

/** The bounded label under which a failed exchange is counted. */
export function outcomeOf(error: GatewayError | StreamFailure): Outcome {
  if (!(error instanceof GatewayError)) return 'upstream_error'
  switch (error.type) {
    case 'budget_error':
      return 'budget_error'
    case 'upstream_error':
      return 'upstream_error'
    case 'guardrail_error':
      return 'guardrail_denied'
    case 'routing_error':
    case 'store_error':
    case 'internal_error':
      return 'internal_error'
    default:
      return 'invalid_request'
  }
}
