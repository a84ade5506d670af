import type { BoundRoute, Egress, ProviderSettings, RouteSpec } from 'model-gateway/provider'
import { bindCompatRoute } from '../_shared/compat-route.ts'
import { aggregatorProvider } from './aggregator.ts'
import type { Compatibility, Config } from './config.ts'

export const TYPE = 'generic_compat'

export function bindRoute(
  { base_url: baseUrl, auth }: Config,
  settings: ProviderSettings,
  egress: Egress,
  route: RouteSpec,
): BoundRoute {
  const { generic_compat: profile = {}, aggregator } = route.compatibility as Compatibility
  const credentials = () =>
    auth?.mode === 'bearer' ? { authorization: `Bearer ${auth.token.reveal()}` } : {}
  const service = { baseUrl, settings, egress, credentials, type: TYPE }
  return bindCompatRoute(service, route, {
    profile,
    aggregatorProvider: aggregator && aggregatorProvider(aggregator),
  })
}
