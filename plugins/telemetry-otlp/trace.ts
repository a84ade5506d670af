import type {
  Attempt,
  ExchangeRecord,
  Follower,
  ObservedCall,
  ObservedRequest,
} from 'model-gateway/observer'
import { parseTraceparent } from 'model-gateway/wire'
import { also, attribute, keptTexts } from './otlp-json.ts'

/** The semantic conventions treat responses as chat, too. */
const GEN_AI_OPERATIONS: Readonly<Record<string, string>> = {
  chat_completions: 'chat',
  responses: 'chat',
}

/** OTLP's numbers. */
export const SERVER = 2
const CLIENT = 3
const FAILED = 2

/**
 * Creates a server span for the request, as a child of the caller's span, and a client span for the
 * provider call, both directly in export form. A trace that is not sampled creates no spans, and
 * is marked as not sampled upstream. `sampleRatio` applies to traces that start here.
 */
export function createTracing(options: {
  readonly sampleRatio: number
  readonly add: (span: string) => void
}): (request: ObservedRequest) => Required<Follower> {
  const { sampleRatio, add } = options
  return (request) => {
    const { startedAt } = request
    const receivedAt = request.receivedAt.getTime()
    const parent = parseTraceparent(request.header('traceparent'))
    const traceId = parent?.traceId ?? randomHex(16)
    const serverId = randomHex(8)
    const kept = parent === undefined ? Math.random() < sampleRatio : parent.sampled
    if (!kept) {
      return { providerCalled: () => `00-${traceId}-${serverId}-00`, finished() {} }
    }
    const clientId = randomHex(8)
    let called: ObservedCall | undefined
    let calledAt = 0

    return {
      providerCalled(call) {
        called = call
        calledAt = receivedAt + performance.now() - startedAt
        return `00-${traceId}-${clientId}-01`
      },
      finished(exchange) {
        const endedAt = receivedAt + exchange.latencyMs
        const attempt = exchange.attempts.at(-1)
        if (called !== undefined && attempt !== undefined) {
          const operation = GEN_AI_OPERATIONS[called.operation] ?? called.operation
          add(
            spanText({
              ids: `"traceId":"${traceId}","spanId":"${clientId}","parentSpanId":"${serverId}"`,
              name: JSON.stringify(`${operation} ${called.upstreamModel}`),
              kind: CLIENT,
              startedAt: calledAt,
              endedAt: calledAt + attempt.latencyMs,
              failed: attempt.status !== 'success' && attempt.status !== 'client_abort',
              attributes: callAttributes(called, operation, exchange, attempt),
            }),
          )
        }
        const above = parent === undefined ? '' : `,"parentSpanId":"${parent.spanId}"`
        add(
          spanText({
            ids: `"traceId":"${traceId}","spanId":"${serverId}"${above}`,
            name: JSON.stringify(`POST ${exchange.path}`),
            kind: SERVER,
            startedAt: receivedAt,
            endedAt,
            failed: requestFailed(exchange),
            attributes: requestAttributes(exchange),
          }),
        )
      },
    }
  }
}

/** By the standard for servers, a 4xx reply is not an error of the span. */
function requestFailed({ outcome, statusCode }: ExchangeRecord): boolean {
  if (outcome !== 'upstream_error' && outcome !== 'internal_error') return false
  return statusCode < 400 || statusCode >= 500
}

/** A span, as OTLP has it in JSON. */
export function spanText(span: {
  readonly ids: string
  /** As JSON. */
  readonly name: string
  readonly kind: number
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly endedAt: number
  readonly failed: boolean
  readonly attributes: string
}): string {
  const { ids, name, kind, startedAt, endedAt, failed, attributes } = span
  return `{${ids},"name":${name},"kind":${kind},"startTimeUnixNano":"${nanos(startedAt)}","endTimeUnixNano":"${nanos(endedAt)}","attributes":[${attributes}],"status":{"code":${failed ? FAILED : 0}}}`
}

/** In microseconds, the precision of a date plus the performance clock. */
function nanos(milliseconds: number): string {
  return `${Math.round(milliseconds * 1000)}000`
}

/** Usage and outcome of the call. No messages or bodies, because they may contain anything. */
function callAttributes(
  called: ObservedCall,
  operation: string,
  { usage }: ExchangeRecord,
  attempt: Attempt,
): string {
  const succeeded = attempt.status === 'success'
  return (
    calledText(called, operation) +
    also('gen_ai.usage.input_tokens', usage?.promptTokens) +
    also('gen_ai.usage.output_tokens', usage?.output) +
    also('gen_ai.usage.cache_read.input_tokens', usage?.cacheRead) +
    also('gen_ai.usage.cache_creation.input_tokens', usage?.cacheWrite) +
    also('http.response.status_code', attempt.upstreamStatus) +
    also('gateway.attempt.first_byte_ms', attempt.firstByteMs) +
    also('gateway.attempt.status', succeeded ? undefined : attempt.status) +
    also('error.type', succeeded ? undefined : errorType(attempt.errorCode ?? attempt.status))
  )
}

const calledTexts = keptTexts()

function calledText({ provider, upstreamModel }: ObservedCall, operation: string): string {
  return calledTexts(`${operation}\0${provider.id}\0${provider.type}\0${upstreamModel}`, () => [
    attribute('gen_ai.operation.name', operation),
    also('gen_ai.provider.name', provider.id),
    also('gen_ai.request.model', upstreamModel),
    also('gateway.provider.type', provider.type),
  ])
}

function requestAttributes(exchange: ExchangeRecord): string {
  const { errorCode, tags } = exchange
  return (
    routeText(exchange) +
    also('gateway.request_id', exchange.requestId) +
    also('gateway.tag.service', tags.service) +
    also('gateway.tag.component', tags.component) +
    also('gateway.tag.env', tags.env) +
    tags.custom.map(({ key, value }) => also(`gateway.tag.${key}`, value)).join('') +
    also('error.type', errorCode && errorType(errorCode))
  )
}

const routeTexts = keptTexts()

function routeText(exchange: ExchangeRecord): string {
  const { statusCode, outcome, stream, configVersion, resolvedModel, provider } = exchange
  const { path } = exchange
  // Values from the caller are exported only if they are names in the config.
  const requestedModel = resolvedModel && exchange.requestedModel
  const key = `${path}\0${statusCode}\0${outcome}\0${stream}\0${configVersion}\0${requestedModel}\0${resolvedModel}\0${provider}`
  return routeTexts(key, () => [
    attribute('http.request.method', 'POST'),
    also('http.route', path),
    also('http.response.status_code', statusCode),
    also('gateway.outcome', outcome),
    also('gateway.stream', stream),
    also('gateway.config_version', configVersion),
    also('gateway.requested_model', requestedModel),
    also('gateway.resolved_model', resolvedModel),
    also('gateway.provider', provider),
  ])
}

const random = Buffer.alloc(4096)
let taken = random.length

/** Random bytes in hexadecimal, drawn in bulk. */
export function randomHex(bytes: number): string {
  if (taken + bytes > random.length) {
    crypto.getRandomValues(random)
    taken = 0
  }
  taken += bytes
  return random.toString('hex', taken - bytes, taken)
}

/** Upstream error codes are free text; only values that look like a code are exported. */
function errorType(code: string | undefined): string {
  return code !== undefined && /^[a-z_]{1,48}$/.test(code) ? code : 'upstream_error'
}
