import { GatewayError, isJsonObject } from 'model-gateway/plugin'
import type { BufferedResult, Execute, ProviderCall } from 'model-gateway/provider'
import { responsesDialect } from 'model-gateway/wire'
import type { ChatRoute } from './compat-chat.ts'
import { type CompatEndpoint, callCompat } from './compat-http.ts'
import { fitMessages } from './compat-messages.ts'
import { profileTransforms } from './compat-profile.ts'
import { completeResponse, exactReplyOf } from './exact-compat.ts'
import { exactReply } from './exact-reply.ts'
import { normaliseTools } from './native-tools.ts'
import { mergeExtraBody, outboundBody } from './outbound-body.ts'
import type { Memory } from './responses-chat-reasoning.ts'
import { chatFromResponse } from './responses-chat-reply.ts'
import { responsesRequest } from './responses-chat-request.ts'
import { chatChunksFromResponses } from './responses-chat-stream.ts'
import { createToolNames, NAMES_OF_64 } from './tool-names.ts'

export interface ResponsesChatRoute extends ChatRoute {
  /** The key for reasoning in `provider_metadata`. */
  readonly providerType: string
}

/** Chat completions by an upstream's responses API, with the profile of chat. */
export function responsesChatExecutor(
  endpoint: CompatEndpoint,
  route: ResponsesChatRoute,
): Execute {
  const transforms = profileTransforms(route.profile, route.unsupportedParams)
  const storable = route.profile.supports_store !== false

  function prepare(call: ProviderCall) {
    const chat = outboundBody(call)
    fitMessages(chat, call, true)
    normaliseTools(chat)
    for (const transform of transforms) transform(chat, call)
    return chat.members()
  }

  return async (call) => {
    route.checkChoices(call.body)
    const chat = prepare(call)
    const names = createToolNames(NAMES_OF_64)
    const send = (memory: Memory) => {
      const request = responsesRequest(chat, call, { ...route, names, storable, memory })
      const body = outboundBody({ body: request, rawBody: undefined })
      if (route.aggregatorProvider !== undefined) body.set('provider', route.aggregatorProvider)
      mergeExtraBody(body, route.extraBody)
      return callCompat(endpoint, { ...call, dialect: responsesDialect }, body)
    }
    const result = await send('whole').catch((error: unknown) => send(memoryAfter(error)))
    const { billingModifiers = [] } = result
    const context = { providerType: route.providerType, names, billingModifiers }
    if (result.kind === 'stream') {
      const { stream_options: asked } = call.body
      const isAsked = isJsonObject(asked) && asked.include_usage === true
      return {
        ...result,
        events: chatChunksFromResponses(result.events, call, context),
        usageUnasked: route.profile.usage_chunks === 'asked' && !isAsked,
      }
    }
    const reply = exactReply(exactReplyOf(call, result, completeResponse) as BufferedResult)
    return { kind: 'buffered', body: chatFromResponse(reply, call, context), billingModifiers }
  }
}

/**
 * The reasoning that a retry may include after this error; rethrows other errors. "The encrypted
 * content … could not be verified": another account or upstream made it, so the conversation
 * continues without it. "Encrypted content is not supported with this model": it does not reason.
 */
function memoryAfter(error: unknown): Memory {
  const isRefused = error instanceof GatewayError && error.status === 400
  if (!isRefused || !/encrypted[ _]content/i.test(error.message)) throw error
  return /not supported/i.test(error.message) ? 'none' : 'from now on'
}
