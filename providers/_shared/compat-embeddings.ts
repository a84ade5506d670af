import type { JsonObject } from 'model-gateway/plugin'
import type { Execute } from 'model-gateway/provider'
import { type CompatEndpoint, callCompat } from './compat-http.ts'
import { completeEmbeddings, exactReplyOf } from './exact-compat.ts'
import { mergeExtraBody, outboundBody } from './outbound-body.ts'

/** Embeddings: the caller's body, `model`, `extra_body`. */
export function embeddingsExecutor(
  endpoint: CompatEndpoint,
  upstreamModel: string,
  extraBody: Readonly<JsonObject>,
  checkChoices: (body: JsonObject) => void,
): Execute {
  return async (call) => {
    checkChoices(call.body)
    const body = outboundBody(call)
    body.set('model', upstreamModel)
    mergeExtraBody(body, extraBody)
    return exactReplyOf(call, await callCompat(endpoint, call, body), completeEmbeddings)
  }
}
