import type { BoundRoute, Egress, ProviderSettings, RouteSpec } from 'model-gateway/provider'
import { type CompatEndpoint, joinUrl, mergeHeaders } from '../_shared/compat-http.ts'
import { COUNT_TOKENS, exactCountExecutor } from '../_shared/count-tokens.ts'
import { nativeChat } from '../_shared/messages-chat.ts'
import { foreignMessages, vendorMessages } from '../_shared/messages-dialect.ts'
import { type NativeRoute, nativeMessages } from '../_shared/messages-native.ts'
import { claudeName } from '../_shared/reasoning-tiers.ts'
import { addressOf, type Compatibility, type Config } from './config.ts'
import { countRequest } from './count-tokens.ts'
import { anthropic } from './environment.ts'

const VERSION = '2023-06-01'

/** Precomputes everything that does not depend on the call. */
export function bindRoute(
  config: Config,
  settings: ProviderSettings,
  egress: Egress,
  route: RouteSpec,
): BoundRoute {
  const { upstreamModel } = route
  const { baseUrl, isVendor } = addressOf(config)
  const { api_key: key, auth_token: token, version = VERSION } = config
  const credentials = (): Record<string, string> => ({
    ...(key && { 'x-api-key': key.reveal() }),
    ...(token && { authorization: `Bearer ${token.reveal()}` }),
  })
  const headers = mergeHeaders(
    { 'anthropic-version': version },
    settings.defaultHeaders,
    route.extraHeaders,
  )
  const endpoint = (path: string): CompatEndpoint => ({
    egress,
    url: joinUrl(baseUrl, path),
    headers,
    credentials,
  })
  // Services with other vendors' models ignore schemas silently.
  const hasSchemas = isVendor || claudeName(upstreamModel) !== undefined
  const messages = endpoint('messages')
  const native: NativeRoute = {
    ...route,
    dialect: isVendor ? vendorMessages : foreignMessages,
    betas: (route.compatibility as Compatibility).anthropic?.betas,
  }
  return {
    supports: ['stream', 'tools', 'vision', ...(hasSchemas ? (['json_schema'] as const) : [])],
    pricing: {
      pricingProviderId: settings.pricingProviderId ?? anthropic.pricing,
      model: upstreamModel,
    },
    execute: {
      chat_completions: nativeChat(messages, native),
      messages: nativeMessages({ buffered: messages, streamed: messages }, native),
      [COUNT_TOKENS]: exactCountExecutor(countRequest(endpoint('messages/count_tokens'), native)),
    },
  }
}
