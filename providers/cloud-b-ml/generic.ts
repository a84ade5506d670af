import type { Execute, JsonObject } from 'model-gateway/plugin'
import { type CompatEndpoint, callCompat } from '../_shared/compat-http.ts'
import { mergeExtraBody, outboundBody, setStream } from '../_shared/outbound-body.ts'

/** Chat completions of the generic styles: the caller's body, `model`, `stream`, `extra_body`. */
export function genericChat(
  endpoint: CompatEndpoint,
  upstreamModel: string,
  extraBody: Readonly<JsonObject>,
): Execute {
  return (call) => {
    const body = outboundBody(call)
    body.set('model', upstreamModel)
    setStream(body, call.stream)
    mergeExtraBody(body, extraBody)
    return callCompat(endpoint, call, body)
  }
}
