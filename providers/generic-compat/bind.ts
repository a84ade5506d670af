import type { BoundRoute, Egress, ProviderSettings, RouteSpec } from 'model-gateway/provider'
import { bindCompatRoute, type CompatService } from '../_shared/compat-route.ts'
import { aggregatorProvider } from './aggregator.ts'
import { type Compatibility, type Config, profileOf } from './config.ts'
import type { Preset } from './presets.ts'

export const TYPE = 'generic_compat'

/** The API of a provider, or of a preset's type. */
export function serviceOf(
  { base_url, api_key, auth }: Config,
  settings: ProviderSettings,
  egress: Egress,
  preset?: Preset,
): CompatService {
  const token = api_key ?? (auth?.mode === 'bearer' ? auth.token : undefined)
  return {
    // Without a preset, the schema requires it.
    baseUrl: base_url ?? preset?.baseUrl ?? '',
    settings: { ...settings, pricingProviderId: settings.pricingProviderId ?? preset?.pricing },
    egress,
    credentials: (): Readonly<Record<string, string>> =>
      token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` },
    type: preset?.type ?? TYPE,
    ...(preset && { apis: preset.apis, paths: preset.paths }),
  }
}

export function bindRoute(service: CompatService, route: RouteSpec, preset?: Preset): BoundRoute {
  const { generic_compat: stated = {}, aggregator } = route.compatibility as Compatibility
  return bindCompatRoute(service, route, {
    profile: profileOf(stated, route.upstreamModel, preset),
    aggregatorProvider: aggregator && aggregatorProvider(aggregator),
  })
}
