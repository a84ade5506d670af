import type { ConfigSnapshot, ModelSpec } from 'model-gateway/host'
import type { RouteSpec } from 'model-gateway/provider'

/** A config as table rows; the names are column names. */
export interface MirrorRows {
  readonly models: readonly object[]
  readonly routes: readonly object[]
}

export function mirrorRows(snapshot: ConfigSnapshot): MirrorRows {
  const models = [...snapshot.models.values()]
  return {
    models: models.map((model) => modelRow(model, snapshot.version)),
    routes: models.flatMap((model) =>
      model.routes.map((route) => routeRow(route, snapshot.version)),
    ),
  }
}

function modelRow(model: ModelSpec, configVersion: string) {
  return {
    model_key: model.id,
    description: model.description,
    tags: model.tags,
    rank: model.rank,
    alias_of: model.aliasOf,
    allowlist_json: model.allowlist,
    config_version: configVersion,
  }
}

function routeRow(route: RouteSpec, configVersion: string) {
  return {
    route_key: route.id,
    model_key: route.model,
    provider_key: route.provider,
    upstream_model: route.upstreamModel,
    priority: route.priority,
    weight: route.weight,
    enabled: route.enabled,
    capabilities_json: route.capabilities,
    compatibility_json: route.compatibility,
    extra_header_names: Object.keys(route.extraHeaders),
    config_version: configVersion,
  }
}
