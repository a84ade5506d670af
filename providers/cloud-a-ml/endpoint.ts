import type { Egress, ProviderSettings, RouteSpec } from 'model-gateway/provider'
import { type Authentication, type CompatEndpoint, mergeHeaders } from '../_shared/compat-http.ts'
import { apiOrigin, type Config } from './config.ts'
import type { UpstreamModel } from './upstream-model.ts'

/** Headers that select another price, such as a flexible tier. */
const PRICE_HEADERS = [
  'x-vertex-ai-llm-request-type',
  'x-vertex-ai-llm-shared-request-type',
] as const

/** One model of a route. */
export interface ModelEndpoint {
  method(name: string): CompatEndpoint
  /** Names of headers that change the price. */
  readonly billingModifiers: readonly string[]
}

export interface Service {
  readonly config: Config
  readonly settings: ProviderSettings
  readonly egress: Egress
  readonly authenticate: Authentication
}

export function modelEndpoint(
  { config, settings, egress, authenticate }: Service,
  { publisher, id }: UpstreamModel,
  route: RouteSpec,
): ModelEndpoint {
  const { project_id: project, location = 'global' } = config
  const headers = mergeHeaders(settings.defaultHeaders, route.extraHeaders)
  const url = `${apiOrigin(config)}/v1/projects/${project}/locations/${location}/publishers/${publisher}/models/${id}`
  return {
    method: (name) => ({ egress, url: `${url}:${name}`, headers, ...authenticate }),
    billingModifiers: PRICE_HEADERS.filter((name) => name in headers),
  }
}
