import type { Execute, JsonObject } from 'model-gateway/plugin'
import { type CompatEndpoint, callCompat } from '../_shared/compat-http.ts'
import { fitUser } from '../_shared/compat-user.ts'
import { mergeExtraBody, outboundBody, setStream } from '../_shared/outbound-body.ts'
import { dropPreservedReasoning } from '../_shared/preserved-reasoning.ts'

/**
 * Chat completions of the generic styles: the caller's body without preserved reasoning, `model`,
 * `stream`, `extra_body`.
 */
export function genericChat(
  endpoint: CompatEndpoint,
  upstreamModel: string,
  extraBody: Readonly<JsonObject>,
): Execute {
  return (call) => {
    const body = outboundBody(call)
    body.set('model', upstreamModel)
    dropPreservedReasoning(body)
    fitUser(body, call)
    setStream(body, call.stream)
    mergeExtraBody(body, extraBody)
    return callCompat(endpoint, call, body)
  }
}
