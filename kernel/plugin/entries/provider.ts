/** Exported as `model-gateway/provider`, in addition to `model-gateway/plugin`. */
export { safeUpstreamMessage, upstreamHttpError } from '../errors.ts'
export type { Egress, EgressRequest, EgressResponse } from '../plugin.ts'
export { providerFactories } from '../points.ts'
export type {
  BoundRoute,
  BufferedResult,
  Execute,
  PricingIdentity,
  Provider,
  ProviderCall,
  ProviderFactory,
  ProviderResult,
  ProviderSettings,
  ProviderTypeSpec,
  StreamResult,
  UnpricedReason,
} from '../provider.ts'
export { type Feature, features, type RouteFlags, type RouteSpec } from '../route.ts'
