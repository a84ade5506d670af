import { isWildcard } from 'model-gateway/host'
import { isJsonObject, type JsonObject, type JsonValue, UsageError } from 'model-gateway/plugin'
import { parse, stringify } from 'yaml'
import { vendors } from './known-providers.ts'

/** What stands before the models that are tried, in the config that tries them. */
const PREFIX = 'gateway-try/'
/** The variable with the key for it. */
export const KEY_VARIABLE = 'GATEWAY_TRY_KEY'

export interface Trial {
  /** The config with one more model, whose only route is the one that is tried, and one more user. */
  readonly text: string
  readonly provider: string
  readonly routeId: string
  /** What the vendor calls the model. */
  readonly upstreamModel: string
  /** Whether any other model of the vendor can be called, too. */
  readonly open: boolean
  /** The name by which to call a model of the vendor. */
  name(upstreamModel: string): string
}

/**
 * Prepares a config to try `PROVIDER[/MODEL]`. MODEL is a model of the gateway or of the vendor. Throws
 * UsageError where there is no such provider, or no model to try.
 */
export function trialOf(text: string, target: string, plugin: string): Trial {
  const config = (parse(text) ?? {}) as JsonObject
  const provider = providerOf(config, target)
  const { id } = provider as { id: string }
  const asked = target.slice(id.length + 1).replace(/^\*$/, '')
  const routes = routesOf(config, id)
  const named = routes.find(({ model, upstream_model }) => [model, upstream_model].includes(asked))
  const wildcard = routes.find(({ upstream_model }) => isWildcard(upstream_model))
  const base = asked === '' ? (wildcard ?? routes[0]) : (named ?? wildcard)
  const known = vendors.find(({ type }) => type === provider.type)?.smallModel
  const upstreamModel =
    base === undefined || base === wildcard ? asked || known : base.upstream_model
  if (upstreamModel === undefined) {
    throw new UsageError(`no model of provider '${id}' is known: name one, as ${id}/MODEL`)
  }
  const open = asked === '' && base !== undefined && base === wildcard
  const { model: _, ...settings } = base ?? { provider: id, model: '' }
  const upstream_model = open ? '*' : upstreamModel
  const name = PREFIX + upstream_model
  return {
    text: stringify({
      ...config,
      models: [...list(config.models), { id: name, routes: [{ ...settings, upstream_model }] }],
      users: [...list(config.users), user],
      server: withoutTelemetry(config.server),
      ...(config.plugins !== undefined && { plugins: [...list(config.plugins), { use: plugin }] }),
    }),
    provider: id,
    routeId: `${name}/${id}/${upstream_model}`,
    upstreamModel,
    open,
    name: (model) => PREFIX + model,
  }
}

const user = {
  name: 'gateway try',
  email: 'gateway-try@localhost.invalid',
  api_keys: [{ name: 'gateway try', value: `env.${KEY_VARIABLE}`, all_models: true }],
}

/** The provider whose id the target is, or begins with: ids may hold slashes. */
function providerOf({ providers }: JsonObject, target: string): JsonObject {
  const entries = list(providers).filter(isJsonObject)
  const fitting = entries.filter(
    ({ id }) => typeof id === 'string' && (target === id || target.startsWith(`${id}/`)),
  )
  const [longest] = fitting.sort((a, b) => String(b.id).length - String(a.id).length)
  if (longest !== undefined) return longest
  const ids = entries.map(({ id }) => id).join(', ') || 'none'
  throw new UsageError(`there is no provider for '${target}'; the config has: ${ids}`)
}

interface Route extends JsonObject {
  readonly model: string
  readonly upstream_model: string
}

/** The routes of a provider that are enabled, each with its model. */
function routesOf({ models }: JsonObject, provider: string): Route[] {
  return list(models)
    .filter(isJsonObject)
    .flatMap(({ id, routes }) =>
      list(routes)
        .filter(isJsonObject)
        .map((route) => ({ ...route, model: String(id) }) as Route),
    )
    .filter(
      (route) =>
        route.provider === provider &&
        route.enabled !== false &&
        typeof route.upstream_model === 'string',
    )
}

/** What is only tried stays out of the operator's measurements. */
function withoutTelemetry(server: JsonValue | undefined): JsonObject {
  const entries = Object.entries(isJsonObject(server) ? server : {})
  return Object.fromEntries(entries.filter(([name]) => !name.startsWith('otel_')))
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}
