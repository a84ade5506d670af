import type { BoundRoute, Egress, ProviderSettings, RouteSpec } from 'model-gateway/provider'
import { type CompatEndpoint, joinUrl, mergeHeaders } from '../_shared/compat-http.ts'
import { COUNT_TOKENS, countExecutor } from '../_shared/count-tokens.ts'
import { type GoogleModel, googleChat } from '../_shared/google-chat.ts'
import { takesThinking } from '../_shared/google-content-config.ts'
import { GOOGLE, nativeGoogle } from '../_shared/google-native.ts'
import { baseUrlOf, type Config, modelName } from './config.ts'
import { geminiCounter } from './count-tokens.ts'
import { embeddingsExecutor } from './embeddings.ts'
import { gemini } from './environment.ts'

/** Precomputes everything that does not depend on the call. */
export function bindRoute(
  config: Config,
  settings: ProviderSettings,
  egress: Egress,
  route: RouteSpec,
): BoundRoute {
  const model = modelName(route.upstreamModel)
  const url = joinUrl(baseUrlOf(config), model.path.split('/').map(encodeURIComponent).join('/'))
  const headers = mergeHeaders(settings.defaultHeaders, route.extraHeaders)
  const credentials = () => ({ 'x-goog-api-key': config.api_key.reveal() })
  const method = (name: string): CompatEndpoint => ({
    egress,
    url: `${url}:${name}`,
    headers,
    credentials,
  })
  const pricing = {
    pricingProviderId: settings.pricingProviderId ?? gemini.pricing,
    model: model.id,
  }
  if (/embedding/.test(model.id)) {
    const embeddings = embeddingsExecutor(method('batchEmbedContents'), model, route.extraBody)
    return { supports: [], pricing, execute: { embeddings } }
  }
  const google: GoogleModel = {
    providerType: 'gemini',
    buffered: method('generateContent'),
    streamed: method('streamGenerateContent?alt=sse'),
    billingModifiers: [],
  }
  const named = { ...route, upstreamModel: model.id }
  return {
    supports: ['stream', 'tools', 'vision', 'json_schema'],
    reads: ['tool_images'],
    takesEffort: takesThinking(model.id),
    pricing,
    execute: {
      chat_completions: googleChat(google, named),
      [GOOGLE]: nativeGoogle(google, route),
      [COUNT_TOKENS]: countExecutor([geminiCounter(method('countTokens'), model)], route),
    },
  }
}
