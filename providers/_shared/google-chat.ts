import type { JsonValue } from 'model-gateway/plugin'
import type { EgressResponse, Execute, RouteSpec } from 'model-gateway/provider'
import type { StreamEvent } from 'model-gateway/wire'
import { billingModifiers } from './billing-modifiers.ts'
import {
  type CompatEndpoint,
  EVENT_STREAM,
  postJson,
  readJsonReply,
  streamBody,
  type UpstreamResponse,
} from './compat-http.ts'
import type { GoogleProviderType } from './google-content-choice.ts'
import { decodeGoogleStream } from './google-content-frames.ts'
import { chatFromGoogle } from './google-content-reply.ts'
import { googleRequest } from './google-content-request.ts'
import { chatChunksFromGoogle } from './google-content-stream.ts'
import { mergeDeep } from './merge-extra-body.ts'
import { redactErrorEvents } from './redact.ts'
import { createToolNames, GOOGLE_NAMES } from './tool-names.ts'

const JSON_TYPE = 'application/json'

/** Body members that change the price. */
const PRICE_MEMBERS = ['serviceTier', 'service_tier'] as const

/** One Google model of a route. */
export interface GoogleModel {
  readonly providerType: GoogleProviderType
  /** generateContent, and streamGenerateContent?alt=sse. */
  readonly buffered: CompatEndpoint
  readonly streamed: CompatEndpoint
  /** Names of headers that change the price. */
  readonly billingModifiers: readonly string[]
}

/** Chat completions of `google/` models: generateContent and streamGenerateContent. */
export function googleChat(
  model: GoogleModel,
  route: Pick<RouteSpec, 'upstreamModel' | 'unsupportedParams' | 'extraBody'>,
): Execute {
  const { providerType } = model
  return async (call) => {
    const names = createToolNames(GOOGLE_NAMES)
    const body = mergeDeep(googleRequest(call, { ...route, providerType }, names), route.extraBody)
    const tiered = tierModifiers(model, (name) => body[name])
    const text = JSON.stringify(body)
    if (!call.stream) {
      const response = await postJson(model.buffered, call, text, JSON_TYPE)
      const { body: reply } = await readJsonReply(response)
      const chat = chatFromGoogle(reply, call, names, tiered, providerType)
      return { kind: 'buffered', body: chat, billingModifiers: tiered }
    }
    const responses = readGoogleStream(await postJson(model.streamed, call, text, EVENT_STREAM))
    return {
      kind: 'stream',
      events: chatChunksFromGoogle(responses, call, names, providerType),
      billingModifiers: tiered,
    }
  }
}

/** The tier that the reply reports, as its service tier or traffic type. */
export function tierModifiers(
  { billingModifiers: headers }: Pick<GoogleModel, 'billingModifiers'>,
  member: (name: string) => JsonValue | undefined,
): readonly string[] {
  const members = billingModifiers(PRICE_MEMBERS, member)
  return members.length + headers.length > 0 ? ['service_tier'] : []
}

/** The responses of a stream, in either framing. Throws GatewayError for another reply. */
export function readGoogleStream(
  response: UpstreamResponse,
): AsyncIterable<readonly StreamEvent[]> {
  const frames = decodeGoogleStream(streamBody(response, streamType(response)))
  return redactErrorEvents(frames, response.redact)
}

/** Accepts JSON too, for the array framing; the first byte then tells the framing. */
function streamType({ headers }: EgressResponse): string {
  return headers.get('content-type')?.startsWith(JSON_TYPE) ? JSON_TYPE : EVENT_STREAM
}
