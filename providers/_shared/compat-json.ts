import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import type { Execute, ProviderCall } from 'model-gateway/provider'
import { type CompatEndpoint, callCompat } from './compat-http.ts'
import { type Profile, requestStreamUsage } from './compat-profile.ts'
import { type Complete, exactReplyOf } from './exact-compat.ts'
import { mergeExtraBody, outboundBody, setStream } from './outbound-body.ts'

/** One route, for its executors of all dialects. */
export interface JsonRoute {
  readonly upstreamModel: string
  readonly extraBody: Readonly<JsonObject>
  /** Throws if the caller's body selects a model or seller. */
  readonly checkChoices: (body: JsonObject) => void
}

/** Options of one dialect. */
export interface JsonRules {
  /** Adds members that replies leave out. */
  readonly complete?: Complete
  /** The route's setting, if the dialect's streams count usage as chat does. */
  readonly profile?: Profile
}

/** The caller's body with `model`, `stream` and `extra_body`; the reply's bytes. */
export function jsonExecutor(
  endpoint: CompatEndpoint,
  { upstreamModel, extraBody, checkChoices }: JsonRoute,
  { complete, profile = {} }: JsonRules = {},
): Execute {
  return async (call) => {
    checkChoices(call.body)
    const body = outboundBody(call)
    body.set('model', upstreamModel)
    setStream(body, call.stream)
    if (profile.supports_stream_usage === true) requestStreamUsage(body, call)
    mergeExtraBody(body, extraBody)
    const result = await callCompat(endpoint, call, body)
    if (result.kind === 'stream') {
      return { ...result, usageUnasked: isUsageUnasked(call, profile.usage_chunks) }
    }
    return complete === undefined ? result : exactReplyOf(call, result, complete)
  }
}

/**
 * With `usage_chunks: asked`, chunks with only usage are sent only to callers that asked for them.
 */
export function isUsageUnasked(
  { body }: Pick<ProviderCall, 'body'>,
  usageChunks: Profile['usage_chunks'],
): boolean {
  const { stream_options: asked } = body
  return usageChunks === 'asked' && !(isJsonObject(asked) && asked.include_usage === true)
}
