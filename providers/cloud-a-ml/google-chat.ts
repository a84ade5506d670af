import type { EgressResponse, Execute, RouteSpec } from 'model-gateway/provider'
import { billingModifiers } from '../_shared/billing-modifiers.ts'
import { EVENT_STREAM, postJson, readJsonReply, streamBody } from '../_shared/compat-http.ts'
import { decodeGoogleStream } from '../_shared/google-content-frames.ts'
import { chatFromGoogle } from '../_shared/google-content-reply.ts'
import { googleRequest } from '../_shared/google-content-request.ts'
import { chatChunksFromGoogle } from '../_shared/google-content-stream.ts'
import { mergeDeep } from '../_shared/merge-extra-body.ts'
import { redactErrorEvents } from '../_shared/redact.ts'
import { createToolNames, GOOGLE_NAMES } from '../_shared/tool-names.ts'
import type { ModelEndpoint } from './endpoint.ts'

const JSON_TYPE = 'application/json'

/** Members of an outbound body that change its price. */
const PRICE_MEMBERS = ['serviceTier', 'service_tier'] as const

/** Chat completions of `google/` models: generateContent and streamGenerateContent. */
export function googleChat(
  endpoint: ModelEndpoint,
  route: Pick<RouteSpec, 'upstreamModel' | 'unsupportedParams' | 'extraBody'>,
): Execute {
  const buffered = endpoint.method('generateContent')
  const streamed = endpoint.method('streamGenerateContent?alt=sse')
  return async (call) => {
    const names = createToolNames(GOOGLE_NAMES)
    const body = mergeDeep(googleRequest(call, route, names), route.extraBody)
    // Of all of them the reply says what became, as the type of its traffic.
    const modifiers = billingModifiers(PRICE_MEMBERS, (name) => body[name])
    const isTiered = modifiers.length + endpoint.billingModifiers.length > 0
    const tiered = isTiered ? ['service_tier'] : []
    const text = JSON.stringify(body)
    if (!call.stream) {
      const response = await postJson(buffered, call, text, JSON_TYPE)
      const { body: reply } = await readJsonReply(response)
      const chat = chatFromGoogle(reply, call, names, tiered)
      return { kind: 'buffered', body: chat, billingModifiers: tiered }
    }
    const response = await postJson(streamed, call, text, EVENT_STREAM)
    const frames = decodeGoogleStream(streamBody(response, streamType(response)))
    const responses = redactErrorEvents(frames, response.redact)
    return {
      kind: 'stream',
      events: chatChunksFromGoogle(responses, call, names),
      billingModifiers: tiered,
    }
  }
}

/** The array framing comes as JSON; of both, the bytes tell which it is. */
function streamType({ headers }: EgressResponse): string {
  return headers.get('content-type')?.startsWith(JSON_TYPE) ? JSON_TYPE : EVENT_STREAM
}
