import type { BoundRoute, Egress, ProviderSettings, RouteSpec } from 'model-gateway/provider'
import { bindCompatRoute } from '../_shared/compat-route.ts'
import { type GoogleTokenOptions, googleCredentials } from '../_shared/google-auth.ts'
import type { Compatibility, Config } from './config.ts'

export const TYPE = 'cloud_a_serverless_compat'

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
    const { generic_compat: profile = {} } = route.compatibility as Compatibility
    const service = { baseUrl: config.base_url, settings, egress, type: TYPE, ...authenticate }
    return bindCompatRoute(service, route, { profile, aggregatorProvider: undefined })
  }
}
