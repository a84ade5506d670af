import { GatewayError, isJsonObject, type JsonObject } from 'model-gateway/plugin'
import {
  type Egress,
  type EgressResponse,
  type ProviderCall,
  type ProviderResult,
  safeUpstreamMessage,
  upstreamHttpError,
} from 'model-gateway/provider'
import { decodeSse, type StreamEvent } from 'model-gateway/wire'
import type { OutboundBody } from './outbound-body.ts'
import {
  createRedact,
  mayNameError,
  type Redact,
  redactErrorEvents,
  redactErrors,
  redactStrings,
} from './redact.ts'
import { readUpstreamError, refusesCredentials } from './upstream-error.ts'

type Headers = Readonly<Record<string, string>>

/** How the calls of an endpoint authenticate. */
export interface Authentication {
  /** The headers that authenticate; asked for at every call. */
  credentials(request: UnauthenticatedRequest): Headers | Promise<Headers>
  /** Told of credentials that the upstream did not take. */
  refused?(credentials: Headers): void
}

/** One path of an upstream, as one route uses it. */
export interface CompatEndpoint extends Authentication {
  readonly egress: Egress
  readonly url: string
  /** Everything but the credentials, names in lower case. */
  readonly headers: Headers
}

/** A POST as it will go out, for credentials that depend on it. */
export interface UnauthenticatedRequest {
  readonly url: string
  readonly headers: Headers
  readonly body: string
}

/** The base URL already carries its version: `https://host/v1`. */
export function joinUrl(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/\/+$/, '')}/${path}`
}

/** Header layers in one, names in lower case, later layers winning. */
export function mergeHeaders(...layers: readonly Headers[]): Headers {
  const merged: Record<string, string> = {}
  for (const layer of layers) {
    for (const [name, value] of Object.entries(layer)) merged[name.toLowerCase()] = value
  }
  return merged
}

/**
 * Sends the body and reads the reply as the family that was asked for. Throws GatewayError:
 * `upstream_http_error` for an error status, `upstream_transport` for a reply of another kind.
 */
export async function callCompat(
  endpoint: CompatEndpoint,
  call: ProviderCall,
  body: OutboundBody,
): Promise<ProviderResult> {
  const accept = call.stream ? EVENT_STREAM : 'application/json'
  const response = await postJson(endpoint, call, body.text(), accept)
  const billingModifiers = body.get('service_tier') == null ? [] : ['service_tier']
  return call.stream
    ? { kind: 'stream', events: readEventStream(response), billingModifiers }
    : { kind: 'buffered', ...(await readJsonReply(response)), billingModifiers }
}

/** The media type of server-sent events. */
export const EVENT_STREAM = 'text/event-stream'

/** The reply to a call, and how to take the call's credentials out of what it says. */
export interface UpstreamResponse extends EgressResponse {
  readonly redact: Redact
}

/** Sends JSON text with credentials. Throws GatewayError for anything but a 2xx status. */
export async function postJson(
  endpoint: CompatEndpoint,
  call: ProviderCall,
  body: string,
  accept: string,
): Promise<UpstreamResponse> {
  const { url } = endpoint
  const headers = { 'content-type': 'application/json', accept, ...endpoint.headers }
  const credentials = await endpoint.credentials({ url, headers, body })
  const response = await endpoint.egress.send(call, url, {
    method: 'POST',
    headers: { ...headers, ...credentials },
    body,
  })
  const redact = createRedact(Object.values(credentials), endpoint.headers)
  if (response.status >= 200 && response.status <= 299) return { ...response, redact }
  if (refusesCredentials(response)) endpoint.refused?.(credentials)
  throw await readUpstreamError(response, redact)
}

/** The body of a streamed reply. Throws GatewayError when it has another media type. */
export function streamBody(
  { headers, body, redact }: UpstreamResponse,
  mediaType: string,
): AsyncIterable<Uint8Array> {
  const contentType = headers.get('content-type') ?? 'no content type'
  if (contentType.split(';')[0]?.trim().toLowerCase() === mediaType) return body
  throw new GatewayError(
    'upstream_transport',
    `the upstream answered a stream request with ${safeUpstreamMessage(redact(contentType))}`,
  )
}

/** The server-sent events of a streamed reply. Throws as `streamBody` does. */
export function readEventStream(response: UpstreamResponse): AsyncIterable<readonly StreamEvent[]> {
  return redactErrorEvents(decodeSse(streamBody(response, EVENT_STREAM)), response.redact)
}

/** What a reply that is no error has, in any of the families and wire formats. */
const PAYLOADS = ['choices', 'output', 'data', 'content', 'candidates', 'predictions']

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * A JSON object, and its text unless a credential had to be taken out of it. Throws GatewayError
 * when the reply is none, or only an error.
 */
export async function readJsonReply(
  response: UpstreamResponse,
): Promise<{ readonly body: JsonObject; readonly rawBody?: string }> {
  const bytes = await response.bytes()
  let rawBody: string
  let body: unknown
  try {
    rawBody = utf8.decode(bytes)
    body = JSON.parse(rawBody)
  } catch (cause) {
    throw new GatewayError('upstream_transport', 'the upstream did not answer with JSON', { cause })
  }
  if (!isJsonObject(body)) {
    throw new GatewayError('upstream_transport', 'the upstream did not answer with a JSON object')
  }
  const answers = PAYLOADS.some((name) => name in (body as JsonObject))
  if (answers && !mayNameError(rawBody)) return { body, rawBody }
  // Without a payload all of it may be an error, whatever its members are called.
  const redacted = (answers ? redactErrors : redactStrings)(body, response.redact) as JsonObject
  refuseErrorInDisguise(redacted, response.status)
  return redacted === body ? { body, rawBody } : { body: redacted }
}

/** Some upstreams report a failure with status 200 and nothing but an `error`. */
function refuseErrorInDisguise(body: JsonObject, status: number): void {
  const { error } = body
  if (!isJsonObject(error)) return
  if ('choices' in body || 'output' in body || 'data' in body) return
  throw upstreamHttpError(
    status,
    typeof error.message === 'string' ? error.message : 'the upstream answered with an error',
  )
}
