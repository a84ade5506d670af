import { GatewayError } from 'model-gateway/plugin'
import {
  type Egress,
  type EgressResponse,
  type ProviderCall,
  type ProviderResult,
  safeUpstreamMessage,
} from 'model-gateway/provider'
import { decodeSse, readBytes, type StreamEvent } from 'model-gateway/wire'
import { billingModifiers } from './billing-modifiers.ts'
import { judge, kindOf } from './first-bytes.ts'
import type { OutboundBody } from './outbound-body.ts'
import { createRedact, type Redact, redactErrorEvents } from './redact.ts'
import { readUpstreamError, refusesCredentials } from './upstream-error.ts'
import { collectWhole, type Dialect, readWhole, tellWhole, type WholeReply } from './whole-reply.ts'

type Headers = Readonly<Record<string, string>>

/** Authentication of an endpoint's calls. */
export interface Authentication {
  /** The authentication headers; requested for each call. */
  credentials(request: UnauthenticatedRequest): Headers | Promise<Headers>
  /** Called with credentials that the upstream refused. */
  refused?(credentials: Headers): void
}

/** One path of an upstream, as a route uses it. */
export interface CompatEndpoint extends Authentication {
  readonly egress: Egress
  readonly url: string
  /** All headers except credentials, names in lower case. */
  readonly headers: Headers
  /** The member name for a reply that is a bare list. Default: such a reply is malformed. */
  readonly listMember?: string
}

/** A POST as it will be sent, for credentials that depend on it. */
export interface UnauthenticatedRequest {
  readonly url: string
  readonly headers: Headers
  readonly body: string
}

/** The base URL includes the version: `https://host/v1`. A path may leave it: `../v2/rerank`. */
export function joinUrl(baseUrl: string, path: string): string {
  const url = `${baseUrl.replace(/\/+$/, '')}/${path}`
  return path.startsWith('../') ? new URL(url).href : url
}

/** Merges header layers; names in lower case, later layers win. */
export function mergeHeaders(...layers: readonly Headers[]): Headers {
  const merged: Record<string, string> = {}
  for (const layer of layers) {
    for (const [name, value] of Object.entries(layer)) merged[name.toLowerCase()] = value
  }
  return merged
}

/**
 * Sends the body and reads the reply in the call's dialect. Throws GatewayError:
 * `upstream_http_error` for an error status, `upstream_transport` for a malformed reply.
 */
export async function callCompat(
  endpoint: CompatEndpoint,
  call: ProviderCall,
  body: OutboundBody,
): Promise<ProviderResult> {
  const accept = call.stream ? EVENT_STREAM : 'application/json'
  const response = await postJson(endpoint, call, body.text(), accept)
  const modifiers = billingModifiers(['service_tier', 'web_search_options'], body.get)
  return { ...(await readAnswer(response, call)), billingModifiers: modifiers }
}

/** A reply in the call's dialect, whole or as a stream, as the upstream sent it. */
export async function readAnswer(
  response: UpstreamResponse,
  { stream, dialect }: Pick<ProviderCall, 'stream' | 'dialect'>,
): Promise<ProviderResult> {
  return stream
    ? { kind: 'stream', events: await readEventStream(response, dialect) }
    : { kind: 'buffered', ...(await readJsonReply(response, dialect)) }
}

/** The media type of server-sent events. */
export const EVENT_STREAM = 'text/event-stream'

/** The reply to a call, with a function that masks the call's credentials. */
export interface UpstreamResponse extends EgressResponse {
  readonly redact: Redact
  /** The call that it answers. */
  readonly call: Pick<ProviderCall, 'body' | 'maxResponseBytes'>
  /** The endpoint's. */
  readonly listMember?: string | undefined
}

/** Sends JSON text with credentials. Throws GatewayError unless the status is 2xx. */
export async function postJson(
  endpoint: CompatEndpoint,
  call: ProviderCall,
  body: string,
  accept: string,
): Promise<UpstreamResponse> {
  return await post(endpoint, call, { body, contentType: 'application/json' }, accept)
}

/**
 * The same for any body. Files are not signed, because services that require signatures do not take
 * files.
 */
export async function post(
  endpoint: CompatEndpoint,
  call: ProviderCall,
  { body, contentType }: { readonly body: string | Blob; readonly contentType: string },
  accept: string,
): Promise<UpstreamResponse> {
  const { url, listMember } = endpoint
  const headers = { 'content-type': contentType, accept, ...endpoint.headers }
  const signed = typeof body === 'string' ? body : ''
  const credentials = await endpoint.credentials({ url, headers, body: signed })
  const response = await endpoint.egress.send(call, url, {
    method: 'POST',
    headers: { ...headers, ...credentials },
    body,
  })
  const redact = createRedact(Object.values(credentials), endpoint.headers)
  if (response.status >= 200 && response.status <= 299)
    return { ...response, redact, call, listMember }
  if (refusesCredentials(response)) endpoint.refused?.(credentials)
  throw await readUpstreamError(response, redact)
}

/** Media types that do not tell the kind of a body; its first bytes do. */
const VAGUE: ReadonlySet<string> = new Set([
  ...['', 'text/plain', 'application/octet-stream', 'binary/octet-stream'],
  ...['application/x-ndjson', 'application/ndjson'],
])

function mediaTypeOf({ headers }: UpstreamResponse): string {
  return (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

/** The body of a streamed reply. Throws GatewayError if it has another media type. */
export function streamBody(
  response: UpstreamResponse,
  mediaType: string,
): AsyncIterable<Uint8Array> {
  const stated = mediaTypeOf(response)
  if (stated === mediaType || VAGUE.has(stated)) return response.body
  throw noStream(response)
}

function tooLarge({ call }: UpstreamResponse): GatewayError {
  return new GatewayError(
    'upstream_transport',
    `the provider's reply is larger than ${call.maxResponseBytes} bytes (max_response_bytes)`,
  )
}

function noStream({ headers, redact }: UpstreamResponse): GatewayError {
  const contentType = headers.get('content-type') ?? 'no content type'
  return new GatewayError(
    'upstream_transport',
    `the upstream answered a stream request with ${safeUpstreamMessage(redact(contentType))}`,
  )
}

/**
 * The server-sent events of a streamed reply, with any media type. A whole reply becomes the events
 * of its dialect. Throws GatewayError for an error and for other data.
 */
export async function readEventStream(
  response: UpstreamResponse,
  dialect?: Dialect,
): Promise<AsyncIterable<readonly StreamEvent[]>> {
  const source = response.body[Symbol.asyncIterator]()
  const isStated = mediaTypeOf(response) === EVENT_STREAM
  async function open(): Promise<AsyncIterator<readonly StreamEvent[]>> {
    const { kind, bytes } = await judge(source)
    if (kind === 'json') {
      const whole = await readBytes(bytes, response.call.maxResponseBytes, () => tooLarge(response))
      if (dialect !== undefined) return oneBatch(tellWhole(whole, response, dialect))
      // Throws the error's reason.
      readWhole(whole, response)
      throw noStream(response)
    }
    if (kind === 'other' && !isStated) throw noStream(response)
    return decodeSse(bytes)
  }
  // Passes the headers on before the first bytes arrive, unless those must be checked first.
  let events = isStated ? undefined : await open()
  async function begin() {
    events = await open()
    return await events.next()
  }
  const opening = {
    next: () => events?.next() ?? begin(),
    return: async () => {
      await (events ?? source).return?.()
      return { done: true, value: undefined } as const
    },
    [Symbol.asyncIterator]: () => opening,
  }
  return redactErrorEvents(opening, response.redact)
}

async function* oneBatch(events: readonly StreamEvent[]) {
  yield events
}

/**
 * A JSON object, and its text unless a credential was masked in it. A stream is read as the reply
 * of its dialect. Throws GatewayError if the reply is not an object, or only an error.
 */
export async function readJsonReply(
  response: UpstreamResponse,
  dialect?: Dialect,
): Promise<WholeReply> {
  const bytes = await response.bytes()
  if (dialect === undefined || kindOf(bytes) !== 'events') return readWhole(bytes, response)
  return await collectWhole(bytes, response, dialect, String(response.call.body.model))
}
