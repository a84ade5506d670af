import type { BoundRoute, Egress, ProviderSettings, RouteSpec } from 'model-gateway/plugin'
import { chatExecutor } from '../_shared/compat-chat.ts'
import { embeddingsExecutor } from '../_shared/compat-embeddings.ts'
import { type CompatEndpoint, joinUrl, mergeHeaders } from '../_shared/compat-http.ts'
import { responsesExecutor } from '../_shared/compat-responses.ts'
import { type GoogleTokenOptions, googleCredentials } from '../_shared/google-auth.ts'
import type { Compatibility, Config } from './config.ts'

/** One service. Throws ConfigError for a credentials file that cannot be used. */
export function createService(
  config: Config,
  settings: ProviderSettings,
  egress: Egress,
  options: Omit<GoogleTokenOptions, 'audience'>,
): (route: RouteSpec) => BoundRoute {
  const authenticate = googleCredentials(
    config.auth,
    config.auth_header === 'x_serverless_authorization'
      ? 'x-serverless-authorization'
      : 'authorization',
    { ...options, audience: config.audience ?? new URL(config.base_url).origin },
  )
  return (route) => {
    const { upstreamModel, extraBody } = route
    const compatibility = route.compatibility as Compatibility
    const headers = mergeHeaders(settings.defaultHeaders, route.extraHeaders)
    const endpoint = (path: string): CompatEndpoint => ({
      egress,
      url: joinUrl(config.base_url, path),
      headers,
      ...authenticate,
    })
    return {
      supports: ['stream', 'tools', 'vision', 'json_schema'],
      compatShape: true,
      pricing: { pricingProviderId: settings.pricingProviderId, model: upstreamModel },
      chat_completions: chatExecutor(endpoint('chat/completions'), {
        upstreamModel,
        profile: compatibility.generic_compat ?? {},
        aggregatorProvider: undefined,
        extraBody,
      }),
      responses: responsesExecutor(endpoint('responses'), upstreamModel, extraBody),
      embeddings: embeddingsExecutor(endpoint('embeddings'), upstreamModel, extraBody),
    }
  }
}
