import type { RateResolution } from 'model-gateway/accounting'
import { type AdminRoute, adminRoute, listOf, pageOf, pageQuery } from 'model-gateway/admin'
import {
  type BoundRouteFacts,
  type ConfigSnapshot,
  isWildcard,
  type ModelSpec,
} from 'model-gateway/host'
import { strictObject, Type } from 'model-gateway/plugin'
import type { RouteSpec } from 'model-gateway/provider'
import { listedNames } from '../_shared/listed-names.ts'
import { Count, nullable, oneOf, Text } from '../_shared/schema.ts'

const usdPerMillion = nullable(
  Text,
  'USD per million tokens as a decimal; null: no price, so calls with such tokens are unpriced.',
)
const PriceView = Type.Object(
  {
    status: oneOf(['priced', 'unpriced', 'by_name'], {
      description:
        'by_name: the upstream model contains a `*`, and each matching name has its own price.',
    }),
    reason: nullable(Text, 'Why it is unpriced.'),
    source: nullable(Text, '`snapshot` or `override`.'),
    input: usdPerMillion,
    output: usdPerMillion,
    cache_read: usdPerMillion,
    cache_write: usdPerMillion,
    longest_prompt: nullable(
      Count,
      'Maximum prompt tokens for these prices; longer prompts have other prices. Null: no limit.',
    ),
  },
  { description: 'Current prices of calls over this route.' },
)

const RouteView = Type.Object({
  route_key: Type.String({ description: '{model}/{provider}/{upstream_model}' }),
  provider_key: Type.String(),
  upstream_model: Type.String(),
  priority: Type.Integer(),
  weight: Type.Number(),
  enabled: Type.Boolean(),
  capabilities: Type.Record(Type.String(), Type.Boolean(), {
    description: 'Capabilities that the config allows.',
  }),
  effective_capabilities: Type.Record(Type.String(), Type.Boolean(), {
    description: 'Capabilities that the config allows and the provider supports.',
  }),
  price: PriceView,
  compatibility: Type.Record(Type.String(), Type.Unknown()),
  extra_header_names: Type.Array(Type.String(), {
    description: 'Names only; the values are not shown.',
  }),
})

const ModelView = Type.Object({
  model_key: Type.String(),
  description: nullable(Text),
  tags: Type.Array(Type.String()),
  rank: Type.Integer(),
  alias_of: nullable(Text),
  allowlist: nullable(
    Type.Object({ users: Type.Array(Type.String()), teams: Type.Array(Type.String()) }),
  ),
  routes: Type.Array(RouteView),
  names: Type.Array(Text, {
    description: 'For a model key with a `*`: the matching names that the price list knows.',
  }),
})

const ProviderView = Type.Object({
  provider_key: Type.String(),
  type: Type.String(),
  pricing_provider_id: nullable(Text),
  timeouts: Type.Object({ total_ms: Type.Integer(), idle_ms: Type.Integer() }),
  model_keys: Type.Array(Type.String(), { description: 'Models with a route to this provider.' }),
})

/** The data that the routes need. */
export interface ConfigSource {
  config(): ConfigSnapshot
  /** `undefined` for a moment while a config is applied. */
  bound(routeId: string): BoundRouteFacts | undefined
  rates(facts: BoundRouteFacts): RateResolution | undefined
  /** The models that a price list knows. */
  priced(pricingProviderId: string): readonly string[]
}

/** Read-only routes for models and providers of the config in force. */
export function configRoutes(source: ConfigSource): AdminRoute[] {
  const { config } = source
  return [
    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/models',
      audience: 'platform_admin',
      tag: 'config',
      summary: 'Models of the config in force, with their routes.',
      query: strictObject(pageQuery),
      result: listOf(ModelView),
      handle({ query }) {
        const { models } = config()
        const namesOf = listedNames({ models, ...source })
        return pageIn([...models.values()], query, (model) => ({
          ...viewOfModel(model, source),
          names: isWildcard(model.id) ? [...namesOf(model.id)] : [],
        }))
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/providers',
      audience: 'platform_admin',
      tag: 'config',
      summary: 'Providers of the config in force, without secrets.',
      query: strictObject(pageQuery),
      result: listOf(ProviderView),
      handle({ query }) {
        const { models, providers } = config()
        return pageIn(
          [...providers.values()],
          query,
          ({ id, type, pricingProviderId, timeouts }) => ({
            provider_key: id,
            type,
            pricing_provider_id: pricingProviderId ?? null,
            timeouts: { total_ms: timeouts.totalMs, idle_ms: timeouts.idleMs },
            model_keys: [...models.values()]
              .filter(({ routes }) => routes.some(({ provider }) => provider === id))
              .map((model) => model.id),
          }),
        )
      },
    }),
  ]
}

function pageIn<T, V>(
  all: readonly T[],
  query: { page?: number; page_size?: number },
  viewOf: (item: T) => V,
) {
  const { offset, ...page } = pageOf(query)
  const items = all.slice(offset, offset + page.page_size).map(viewOf)
  return { items, ...page, total: all.length }
}

function viewOfModel(model: ModelSpec, source: ConfigSource) {
  const { users, teams } = model.allowlist ?? {}
  return {
    model_key: model.id,
    description: model.description ?? null,
    tags: [...model.tags],
    rank: model.rank,
    alias_of: model.aliasOf ?? null,
    allowlist:
      users === undefined || teams === undefined ? null : { users: [...users], teams: [...teams] },
    routes: model.routes.map((route) => ({
      route_key: route.id,
      provider_key: route.provider,
      upstream_model: route.upstreamModel,
      priority: route.priority,
      weight: route.weight,
      enabled: route.enabled,
      capabilities: { ...route.capabilities },
      ...viewOfBound(route, source),
      compatibility: { ...route.compatibility },
      extra_header_names: Object.keys(route.extraHeaders),
    })),
  }
}

function viewOfBound(
  { id, capabilities, upstreamModel }: RouteSpec,
  { bound, rates }: ConfigSource,
) {
  const facts = bound(id)
  const rate = facts && rates(facts)
  const priced = rate?.status === 'priced' ? rate : undefined
  const prices = priced?.usual.prices ?? {}
  return {
    effective_capabilities:
      facts === undefined
        ? Object.fromEntries(Object.keys(capabilities).map((flag) => [flag, false]))
        : { ...facts.capabilities },
    price: {
      status:
        priced?.status ??
        (isWildcard(upstreamModel) ? ('by_name' as const) : ('unpriced' as const)),
      reason: rate?.status === 'unpriced' && !isWildcard(upstreamModel) ? rate.reason : null,
      source: priced?.source ?? null,
      input: prices.input ?? null,
      output: prices.output ?? null,
      cache_read: prices.cache_read ?? null,
      cache_write: prices.cache_write ?? null,
      longest_prompt: priced?.usual.longPrompts[0]?.aboveTokens ?? null,
    },
  }
}
