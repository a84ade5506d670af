import {
  type Attempt,
  type ExchangeRecord,
  GatewayError,
  type Outcome,
  type SentResponse,
  type Settlement,
  type StreamFailure,
  type Usage,
} from '../plugin/index.ts'
import { nextTurn } from '../plugin/turn.ts'
import type { Exchange, LifecycleServices, Planned } from './exchange.ts'
import { noTags } from './tags.ts'

/** The outcome of an exchange as recorded. */
export interface RecordedEnd {
  readonly statusCode: number
  readonly outcome: Outcome
  readonly error: { readonly code: string; readonly message: string } | undefined
  readonly usage: Usage | undefined
  readonly settlement: Settlement | undefined
  readonly attempts: readonly Attempt[]
  readonly invokedToolCount: number | undefined
  readonly response: SentResponse
}

/**
 * Passes a finished exchange to all recorders in the next event-loop turn and releases its config.
 * Errors of recorders are logged and never reach the caller.
 */
export function record(exchange: Exchange, end: RecordedEnd, services: LifecycleServices): void {
  const { requestId, surface, lease, trace } = exchange
  const decoded = 'read' in exchange ? exchange : undefined
  const resolved = 'model' in exchange ? exchange : undefined
  const spec = 'route' in exchange ? exchange.route.spec : undefined
  const logged = 'loggedBody' in exchange ? exchange.loggedBody : undefined
  const recorded: ExchangeRecord = {
    requestId,
    clientRequestId: exchange.headers['x-client-request-id'],
    receivedAt: exchange.receivedAt,
    operation: surface.operation,
    surface: surface.id,
    path: surface.paths[0] ?? '',
    stream: decoded?.read.stream ?? false,
    configVersion: lease.runtime.configVersion,
    principal: 'principal' in exchange ? exchange.principal : undefined,
    requestedModel: decoded?.selector,
    selectedModel: resolved?.model.id,
    resolvedModel: resolved?.executionModel.id,
    provider: spec?.provider,
    upstreamModel: spec?.upstreamModel,
    statusCode: end.statusCode,
    outcome: end.outcome,
    errorCode: end.error?.code,
    errorMessage: end.error?.message,
    latencyMs: performance.now() - exchange.startedAt,
    usage: end.usage,
    ...(surface.priced === false && { priced: false }),
    settlement: end.settlement,
    attempts: end.attempts,
    userAgent: exchange.headers['user-agent'],
    tags: decoded?.tags ?? noTags,
    ...('dropped' in exchange && exchange.dropped.size > 0 && { dropped: droppedNames(exchange) }),
    requestHeaders: () => exchange.headers,
    requestBody: logged ?? decoded?.json,
    response: end.response,
    exposedToolCount: decoded?.read.exposedToolCount,
    invokedToolCount: end.invokedToolCount,
  }
  void nextTurn().then(() => {
    for (const recorder of services.recorders) {
      try {
        recorder.record(recorded)
      } catch (error) {
        services.fault('a recorder failed', error, requestId)
      }
    }
    trace.finished(recorded)
    lease.release()
  })
}

const MAX_DROPPED = 32

/** The dropped members of a request; callers choose their names, so their number is unbounded. */
export function droppedNames({ dropped }: Pick<Planned, 'dropped'>): readonly string[] {
  return [...dropped]
    .slice(0, MAX_DROPPED)
    .map((name) => name.slice(0, 64).replace(/[^\w.:[\]-]/g, '?'))
}

/** The label for metrics of a failed exchange; one of a bounded set. */
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
