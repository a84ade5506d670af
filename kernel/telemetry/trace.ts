import { TraceFlags } from '@opentelemetry/api'
import type { ApiSurface, Attempt, ExchangeRecord, Family, ProviderSpec } from '../plugin/index.ts'
import { also, attribute, keptTexts } from './otlp-json.ts'

/** As much of an inference request as its trace needs. */
export interface TracedRequest {
  readonly family: Family
  readonly apiSurface?: ApiSurface | undefined
  readonly receivedAt: Date
  /** `performance.now()` at the same moment. */
  readonly startedAt: number
  header(name: string): string | null
}

/** A call to a provider. */
interface Called {
  readonly provider: ProviderSpec
  readonly operation: Family
  readonly upstreamModel: string
}

/** Follows one request for the traces. */
export interface RequestTrace {
  /** The provider call begins; gives the W3C trace context that goes upstream with it. */
  providerCalled(call: Called): string | undefined
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
    providerCalled: () => callersTraceparent(header),
    finished() {},
  }
}

/** As OTLP numbers them. */
export const SERVER = 2
const CLIENT = 3
const FAILED = 2

/**
 * A server span for the request, as a child of the caller's, and a client span for the provider
 * call, both made as the text that is exported. A trace that is not sampled costs no spans, but goes
 * upstream as one that is not sampled. `sampleRatio` decides about traces that begin here.
 */
export function createTracing(options: {
  readonly sampleRatio: number
  readonly add: (span: string) => void
}): (request: TracedRequest) => RequestTrace {
  const { sampleRatio, add } = options
  return (request) => {
    const { family, apiSurface, startedAt } = request
    const receivedAt = request.receivedAt.getTime()
    const parent = parseTraceparent(request.header('traceparent'))
    const traceId = parent?.traceId ?? randomHex(16)
    const serverId = randomHex(8)
    const kept = parent === undefined ? Math.random() < sampleRatio : parent.traceFlags !== 0
    if (!kept) {
      return { providerCalled: () => `00-${traceId}-${serverId}-00`, finished() {} }
    }
    const clientId = randomHex(8)
    let called: Called | undefined
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
          const operation = GEN_AI_OPERATIONS[called.operation]
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
            name: `"POST ${pathOf(family, apiSurface)}"`,
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

/** As the standard has it for servers: what is answered with a 4xx has not failed here. */
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

/** To the microsecond: a date and the clock beside it know no more. */
function nanos(milliseconds: number): string {
  return `${Math.round(milliseconds * 1000)}000`
}

/** What the call used and how it ended. Neither messages nor bodies: they may hold anything. */
function callAttributes(
  called: Called,
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

function calledText({ provider, upstreamModel }: Called, operation: string): string {
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
  const path = pathOf(exchange.operation, exchange.apiSurface)
  // What the caller wrote is told only when it is a name of ours.
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

/** The caller's `traceparent` as it is; undefined when it is not valid. */
export function callersTraceparent(header: (name: string) => string | null): string | undefined {
  const traceparent = header('traceparent')
  return parseTraceparent(traceparent) === undefined ? undefined : (traceparent ?? undefined)
}
