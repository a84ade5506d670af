import type { JsonObject } from 'model-gateway/plugin'
import type { Execute, ProviderCall, ProviderResult, RouteSpec } from 'model-gateway/provider'
import { type CompatEndpoint, callCompat } from './compat-http.ts'
import { isUsageUnasked } from './compat-json.ts'
import { fitMessages, wantsNewerLimit } from './compat-messages.ts'
import { type Profile, profileTransforms, requestStreamUsage } from './compat-profile.ts'
import { withToolNames } from './compat-tool-names.ts'
import { completeChat, exactReplyOf } from './exact-compat.ts'
import { normaliseTools } from './native-tools.ts'
import { mergeExtraBody, type OutboundBody, outboundBody, setStream } from './outbound-body.ts'
import { dropPreservedReasoning } from './preserved-reasoning.ts'

export interface ChatRoute {
  readonly upstreamModel: string
  readonly profile: Profile
  /** The `provider` member of an aggregator route. */
  readonly aggregatorProvider: JsonObject | undefined
  readonly extraBody: Readonly<JsonObject>
  /** Throws if the caller's body selects a model or seller. */
  readonly checkChoices: (body: JsonObject) => void
  readonly unsupportedParams: RouteSpec['unsupportedParams'] | undefined
}

/**
 * Chat completions: the caller's body with the route's transforms, without preserved reasoning, and
 * with `extra_body` last.
 */
export function chatExecutor(endpoint: CompatEndpoint, route: ChatRoute): Execute {
  const transforms = profileTransforms(route.profile, route.unsupportedParams)
  const newerLimit =
    route.profile.max_tokens_field === 'max_completion_tokens' ||
    wantsNewerLimit(route.upstreamModel)
  const usageChunks = route.profile.usage_chunks
  return (call) => {
    route.checkChoices(call.body)
    const body = outboundBody(call)
    body.set('model', route.upstreamModel)
    dropPreservedReasoning(body)
    fitMessages(body, call, newerLimit)
    normaliseTools(body)
    for (const transform of transforms) transform(body, call)
    if (route.aggregatorProvider !== undefined) body.set('provider', route.aggregatorProvider)
    setStream(body, call.stream)
    if (route.profile.supports_stream_usage === true) requestStreamUsage(body, call)
    mergeExtraBody(body, route.extraBody)
    return withToolNames(body, call, () => callChat(endpoint, call, body, usageChunks))
  }
}

/**
 * Sends the body and reads the completion. With `usageChunks: asked` chunks with only usage are
 * sent only to callers that asked for them.
 */
export async function callChat(
  endpoint: CompatEndpoint,
  call: ProviderCall,
  body: OutboundBody,
  usageChunks?: Profile['usage_chunks'],
): Promise<ProviderResult> {
  const result = await callCompat(endpoint, call, body)
  if (result.kind === 'buffered') return exactReplyOf(call, result, completeChat)
  return { ...result, usageUnasked: isUsageUnasked(call, usageChunks) }
}
