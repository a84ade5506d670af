import {
  decodeSse,
  type Egress,
  type EgressResponse,
  GatewayError,
  isJsonObject,
  type JsonObject,
  type ProviderCall,
  type ProviderResult,
  safeUpstreamMessage,
  upstreamHttpError,
} from 'model-gateway/plugin'
import type { OutboundBody } from './outbound-body.ts'
import { readUpstreamError } from './upstream-error.ts'

type Headers = Readonly<Record<string, string>>

/** One path of an OpenAI-compatible upstream, as one route uses it. */
export interface CompatEndpoint {
  readonly egress: Egress
  readonly url: string
  /** Everything but the credentials, names in lower case. */
  readonly headers: Headers
  /** The headers that authenticate; asked for at every call. */
  credentials(): Headers | Promise<Headers>
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
  const credentials = await endpoint.credentials()
  const response = await endpoint.egress.send(call, endpoint.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: call.stream ? 'text/event-stream' : 'application/json',
      ...endpoint.headers,
      ...credentials,
    },
    body: body.text(),
  })
  if (response.status < 200 || response.status > 299) {
    throw await readUpstreamError(response, Object.values(credentials))
  }
  const billingModifiers = body.get('service_tier') == null ? [] : ['service_tier']
  return call.stream
    ? { kind: 'stream', events: openEventStream(response), billingModifiers }
    : { kind: 'buffered', ...(await readJsonReply(response)), billingModifiers }
}

function openEventStream({ headers, body }: EgressResponse) {
  const contentType = headers.get('content-type') ?? 'no content type'
  if (/^text\/event-stream\b/i.test(contentType)) return decodeSse(body)
  throw new GatewayError(
    'upstream_transport',
    `the upstream answered a stream request with ${safeUpstreamMessage(contentType)}`,
  )
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

async function readJsonReply(
  response: EgressResponse,
): Promise<{ readonly body: JsonObject; readonly rawBody: string }> {
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
  refuseErrorInDisguise(body, response.status)
  return { body, rawBody }
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
