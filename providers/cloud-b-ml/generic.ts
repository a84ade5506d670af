import type { JsonObject } from 'model-gateway/plugin'
import type { Execute } from 'model-gateway/provider'
import { callChat } from '../_shared/compat-chat.ts'
import type { CompatEndpoint } from '../_shared/compat-http.ts'
import { fitMessages, wantsNewerLimit } from '../_shared/compat-messages.ts'
import { withToolNames } from '../_shared/compat-tool-names.ts'
import { mergeExtraBody, outboundBody, setStream } from '../_shared/outbound-body.ts'
import { dropPreservedReasoning } from '../_shared/preserved-reasoning.ts'

/**
 * Chat completions of the generic styles: the caller's body without preserved reasoning, plus
 * `model`, `stream`, `extra_body`.
 */
export function genericChat(
  endpoint: CompatEndpoint,
  upstreamModel: string,
  extraBody: Readonly<JsonObject>,
): Execute {
  const newerLimit = wantsNewerLimit(upstreamModel)
  return (call) => {
    const body = outboundBody(call)
    body.set('model', upstreamModel)
    dropPreservedReasoning(body)
    fitMessages(body, call, newerLimit)
    setStream(body, call.stream)
    mergeExtraBody(body, extraBody)
    return withToolNames(body, call, () => callChat(endpoint, call, body))
  }
}
