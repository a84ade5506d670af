import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { ApiSurface, Attempt, ExchangeRecord, Family, ProviderSpec } from '../plugin/index.ts'

/** As much of an inference request as its trace needs. */
export interface TracedRequest {
  readonly family: Family
  readonly apiSurface?: ApiSurface | undefined
  readonly receivedAt: Date
  /** `performance.now()` at the same moment. */
  readonly startedAt: number
  header(name: string): string | null
}

export interface RequestTrace {
  /** The provider call begins; gives the W3C trace context that goes upstream with it. */
  providerCalled(call: {
    readonly provider: ProviderSpec
    readonly operation: Family
    readonly upstreamModel: string
  }): string | undefined
  finished(exchange: ExchangeRecord): void
}

const PATHS: Readonly<Record<Family, string>> = {
  chat_completions: '/v1/chat/completions',
  responses: '/v1/responses',
  embeddings: '/v1/embeddings',
}
function pathOf(family: Family, surface: ApiSurface | undefined): string {
  return surface === 'messages' ? '/v1/messages' : PATHS[family]
}

/** The semantic conventions know responses as chat, too. */
const GEN_AI_OPERATIONS: Readonly<Record<Family, string>> = {
  chat_completions: 'chat',
  responses: 'chat',
  embeddings: 'embeddings',
}

/** Without traces of our own: the caller's trace context goes upstream as it is. */
export function passTraceOn({ header }: TracedRequest): RequestTrace {
  return {
    providerCalled() {
      const traceparent = header('traceparent')
      return parseTraceparent(traceparent) === undefined ? undefined : (traceparent ?? undefined)
    },
    finished() {},
  }
}

/**
 * A server span for the request, as a child of the caller's, and a client span for the provider
 * call. A trace that is not sampled costs no spans, but goes upstream as one that is not sampled.
 */
export function createTracing(tracer: Tracer): (request: TracedRequest) => RequestTrace {
  return (request) => {
    const { family, apiSurface, startedAt } = request
    const receivedAt = request.receivedAt.getTime()
    const server = tracer.startSpan(
      `POST ${pathOf(family, apiSurface)}`,
      { kind: SpanKind.SERVER, startTime: receivedAt },
      parentOf(request.header('traceparent')),
    )
    if (!server.isRecording()) {
      return { providerCalled: () => traceparentOf(server), finished() {} }
    }
    let client: Span | undefined
    let calledAt = 0

    return {
      providerCalled({ provider, operation, upstreamModel }) {
        calledAt = receivedAt + performance.now() - startedAt
        client = tracer.startSpan(
          `${GEN_AI_OPERATIONS[operation]} ${upstreamModel}`,
          { kind: SpanKind.CLIENT, startTime: calledAt },
          trace.setSpan(ROOT_CONTEXT, server),
        )
        note(client, 'gen_ai.operation.name', GEN_AI_OPERATIONS[operation])
        note(client, 'gen_ai.provider.name', provider.id)
        note(client, 'gen_ai.request.model', upstreamModel)
        note(client, 'gateway.provider.type', provider.type)
        return traceparentOf(client)
      },
      finished(exchange) {
        const endedAt = receivedAt + exchange.latencyMs
        if (client !== undefined) {
          const attempt = exchange.attempts.at(-1)
          describeCall(client, exchange, attempt)
          client.end(attempt === undefined ? endedAt : calledAt + attempt.latencyMs)
        }
        describeRequest(server, exchange)
        server.end(endedAt)
      },
    }
  }
}

/** What the call used and how it ended. Neither messages nor bodies: they may hold anything. */
function describeCall(span: Span, { usage }: ExchangeRecord, attempt: Attempt | undefined): void {
  note(span, 'gen_ai.usage.input_tokens', usage?.promptTokens)
  note(span, 'gen_ai.usage.output_tokens', usage?.output)
  note(span, 'gen_ai.usage.cache_read.input_tokens', usage?.cacheRead)
  note(span, 'gen_ai.usage.cache_creation.input_tokens', usage?.cacheWrite)
  note(span, 'http.response.status_code', attempt?.upstreamStatus)
  note(span, 'gateway.attempt.first_byte_ms', attempt?.firstByteMs)
  if (attempt?.status === 'success') return
  if (attempt?.status !== 'client_abort') span.setStatus({ code: SpanStatusCode.ERROR })
  note(span, 'gateway.attempt.status', attempt?.status)
  note(span, 'error.type', errorType(attempt?.errorCode ?? attempt?.status))
}

function describeRequest(span: Span, exchange: ExchangeRecord): void {
  const { resolvedModel, outcome, tags } = exchange
  note(span, 'http.route', pathOf(exchange.operation, exchange.apiSurface))
  note(span, 'http.response.status_code', exchange.statusCode)
  note(span, 'gateway.request_id', exchange.requestId)
  note(span, 'gateway.outcome', outcome)
  note(span, 'gateway.stream', exchange.stream)
  note(span, 'gateway.config_version', exchange.configVersion)
  // What the caller wrote is told only when it is a name of ours.
  note(span, 'gateway.requested_model', resolvedModel && exchange.requestedModel)
  note(span, 'gateway.resolved_model', resolvedModel)
  note(span, 'gateway.provider', exchange.provider)
  note(span, 'gateway.tag.service', tags.service)
  note(span, 'gateway.tag.component', tags.component)
  note(span, 'gateway.tag.env', tags.env)
  for (const { key, value } of tags.custom) note(span, `gateway.tag.${key}`, value)
  if (exchange.errorCode !== undefined) note(span, 'error.type', errorType(exchange.errorCode))
  if (outcome === 'upstream_error' || outcome === 'internal_error') {
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
}

export function note(span: Span, name: string, value: string | number | boolean | undefined): void {
  if (value !== undefined) span.setAttribute(name, value)
}

/** An upstream may call its errors anything; only what reads like a code is told. */
function errorType(code: string | undefined): string {
  return code !== undefined && /^[a-z_]{1,48}$/.test(code) ? code : 'upstream_error'
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const ZEROS = /^0+$/

/** Trace id, span id and flags of a `traceparent` header; undefined when it is not valid. */
export function parseTraceparent(header: string | null) {
  if (header === null) return undefined
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(header) ?? []
  if (version === undefined || version === 'ff') return undefined
  if (version === '00' && more !== undefined) return undefined
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED }
}

export function parentOf(header: string | null): Context {
  const parent = parseTraceparent(header)
  if (parent === undefined) return ROOT_CONTEXT
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true })
}

export function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`
}
