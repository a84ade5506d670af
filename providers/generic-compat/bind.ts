import type { BoundRoute, Egress, ProviderSettings, RouteSpec } from 'model-gateway/plugin'
import { chatExecutor } from '../_shared/compat-chat.ts'
import { embeddingsExecutor } from '../_shared/compat-embeddings.ts'
import { type CompatEndpoint, joinUrl, mergeHeaders } from '../_shared/compat-http.ts'
import { responsesExecutor } from '../_shared/compat-responses.ts'
import { aggregatorProvider } from './aggregator.ts'
import type { Compatibility, Config } from './config.ts'

/** Everything that does not change from call to call is worked out here. */
export function bindRoute(
  config: Config,
  settings: ProviderSettings,
  egress: Egress,
  route: RouteSpec,
): BoundRoute {
  const { upstreamModel, extraBody } = route
  const compatibility = route.compatibility as Compatibility
  const { aggregator } = compatibility
  const headers = mergeHeaders(settings.defaultHeaders, route.extraHeaders)
  const { auth } = config
  const credentials = () =>
    auth?.mode === 'bearer' ? { authorization: `Bearer ${auth.token.reveal()}` } : {}
  const endpoint = (path: string): CompatEndpoint => ({
    egress,
    url: joinUrl(config.base_url, path),
    headers,
    credentials,
  })
  return {
    supports: ['stream', 'tools', 'vision', 'json_schema'],
    compatShape: true,
    pricing: { pricingProviderId: settings.pricingProviderId, model: upstreamModel },
    chat_completions: chatExecutor(endpoint('chat/completions'), {
      upstreamModel,
      profile: compatibility.generic_compat ?? {},
      aggregatorProvider: aggregator && aggregatorProvider(aggregator),
      extraBody,
    }),
    responses: responsesExecutor(endpoint('responses'), upstreamModel, extraBody),
    embeddings: embeddingsExecutor(endpoint('embeddings'), upstreamModel, extraBody),
  }
}
