import type { Static, TSchema } from '@sinclair/typebox'
import {
  type ConfigSection,
  type ConfigSnapshot,
  type JsonObject,
  type ModelSpec,
  type RouteSpec,
  routeId,
} from '../plugin/index.ts'
import { deepFreeze } from '../plugin/json.ts'
import type { LoadedProvider } from './loaded.ts'
import type { ModelEntry, RouteEntry } from './model-section.ts'
import type { ParsedConfig } from './parse.ts'
import { isOwnField, type ProviderTypes, type RootEntry } from './schema.ts'

export function loadedProviders(root: RootEntry, types: ProviderTypes): readonly LoadedProvider[] {
  return root.providers.map((entry) => {
    const { id, default_headers, pricing_provider_id: pricingProviderId } = entry
    const type = types.find(entry.type)?.type ?? entry.type
    const timeouts = { totalMs: entry.timeouts.total_ms, idleMs: entry.timeouts.idle_ms }
    const own = Object.entries(entry).filter(([key]) => isOwnField(key))
    return deepFreeze({
      spec: { id, type, pricingProviderId, timeouts, maxResponseBytes: entry.max_response_bytes },
      settings: { id, defaultHeaders: default_headers, pricingProviderId },
      config: Object.fromEntries(own) as JsonObject,
    })
  })
}

function routeSpec(model: string, entry: RouteEntry): RouteSpec {
  return {
    id: routeId(model, entry.provider, entry.upstream_model),
    model,
    provider: entry.provider,
    upstreamModel: entry.upstream_model,
    priority: entry.priority,
    weight: entry.weight,
    enabled: entry.enabled,
    capabilities: entry.capabilities,
    extraHeaders: entry.extra_headers,
    extraBody: entry.extra_body as JsonObject,
    compatibility: entry.compatibility as JsonObject,
    ...(entry.drop_params && { dropParams: entry.drop_params }),
    ...(entry.unsupported_params && { unsupportedParams: entry.unsupported_params }),
  }
}

function modelSpec(entry: ModelEntry): ModelSpec {
  return {
    id: entry.id,
    description: entry.description,
    tags: entry.tags,
    rank: entry.rank,
    aliasOf: entry.alias_of,
    allowlist: entry.allowlist,
    routes: (entry.routes ?? []).map((route) => routeSpec(entry.id, route)),
  }
}

export function createSnapshot(
  parsed: ParsedConfig,
  root: RootEntry & Readonly<Record<string, unknown>>,
  providers: readonly LoadedProvider[],
  sections: ReadonlySet<string>,
): ConfigSnapshot {
  return Object.freeze({
    version: parsed.version,
    models: new Map(root.models.map((entry) => [entry.id, deepFreeze(modelSpec(entry))])),
    providers: new Map(providers.map(({ spec }) => [spec.id, spec])),
    section<S extends TSchema>({ name }: ConfigSection<S>): Static<S> {
      if (!sections.has(name)) throw new Error(`no loaded plugin has the section ${name}`)
      return root[name] as Static<S>
    },
  })
}
