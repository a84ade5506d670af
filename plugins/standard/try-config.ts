import { isWildcard } from 'model-gateway/host'
import { isJsonObject, type JsonObject, type JsonValue, UsageError } from 'model-gateway/plugin'
import { parse, stringify } from 'yaml'
import { vendors } from './known-providers.ts'

/** Prefix of the ids of tried models. */
const PREFIX = 'gateway-try'
/** The variable with the key for it. */
export const KEY_VARIABLE = 'GATEWAY_TRY_KEY'

/** One provider to try. */
export interface Trial {
  readonly provider: string
  /** The variables that its secrets come from. */
  readonly variables: readonly string[]
  /** Undefined: no model of it is known. */
  readonly route: TriedRoute | undefined
}

export interface TriedRoute {
  readonly id: string
  /** The vendor's name of the model. */
  readonly upstreamModel: string
  /** Whether every other model of the vendor can be called, too. */
  readonly open: boolean
  /** The gateway's name for a model of the vendor. */
  name(upstreamModel: string): string
}

export interface TrialConfig {
  /** The config with one more model for each trial, with the tried route, and one more user. */
  readonly text: string
  readonly trials: readonly Trial[]
}

/**
 * Prepares a config to try targets such as `PROVIDER[/MODEL]`, or all providers. MODEL is a model
 * of the gateway or of the vendor. Throws UsageError for an unknown provider, or one without a
 * known model.
 */
export function trialsOf(text: string, targets: readonly string[], plugin: string): TrialConfig {
  const config = (parse(text) ?? {}) as JsonObject
  const asked = targets.map((target) => [target, providerOf(config, target)] as const)
  const all =
    asked.length > 0 ? asked : vendorsOf(config).map((entry) => [idOf(entry), entry] as const)
  const prepared = all.map(([target, provider], at) =>
    prepare(routesOf(config, idOf(provider)), provider, target, `${PREFIX}/${at}/`),
  )
  const unknown = prepared.find(({ model }) => model === undefined)
  if (asked.length > 0 && unknown !== undefined) {
    const { provider } = unknown.trial
    throw new UsageError(
      `no model of provider '${provider}' is known; name one: gateway try ${provider}/MODEL`,
    )
  }
  const models = prepared.flatMap(({ model }) => model ?? [])
  return {
    text: stringify({
      ...config,
      models: [...list(config.models), ...models],
      users: [...list(config.users), user],
      server: withoutTelemetry(config.server),
      ...(config.plugins !== undefined && { plugins: [...list(config.plugins), { use: plugin }] }),
    }),
    trials: prepared.map(({ trial }) => trial),
  }
}

/** A trial with the model for it. */
function prepare(
  routes: readonly Route[],
  provider: JsonObject,
  target: string,
  prefix: string,
): { readonly trial: Trial; readonly model?: JsonObject } {
  const id = idOf(provider)
  const variables = [...new Set(variablesIn(provider))]
  const asked = target.slice(id.length + 1).replace(/^\*$/, '')
  const named = routes.find(({ model, upstream_model }) => [model, upstream_model].includes(asked))
  const wildcard = routes.find(({ upstream_model }) => isWildcard(upstream_model))
  const base = asked === '' ? (wildcard ?? routes[0]) : (named ?? wildcard)
  const known = vendors.find(({ type }) => type === provider.type)?.smallModel
  const upstreamModel =
    base === undefined || base === wildcard ? asked || known : base.upstream_model
  if (upstreamModel === undefined) return { trial: { provider: id, variables, route: undefined } }
  const open = asked === '' && base !== undefined && base === wildcard
  const { model: _, ...settings } = base ?? { provider: id, model: '' }
  const upstream_model = open ? '*' : upstreamModel
  const name = prefix + upstream_model
  const route = {
    id: `${name}/${id}/${upstream_model}`,
    upstreamModel,
    open,
    name: (model: string) => prefix + model,
  }
  return {
    trial: { provider: id, variables, route },
    model: { id: name, routes: [{ ...settings, upstream_model }] },
  }
}

const user = {
  name: 'gateway try',
  email: 'gateway-try@localhost.invalid',
  api_keys: [{ name: 'gateway try', value: `env.${KEY_VARIABLE}`, all_models: true }],
}

const idOf = ({ id }: JsonObject) => String(id)

/** The provider whose id is the target or its prefix; ids may contain slashes. */
function providerOf({ providers }: JsonObject, target: string): JsonObject {
  const entries = list(providers).filter(isJsonObject)
  const fitting = entries.filter(
    (entry) => target === idOf(entry) || target.startsWith(`${idOf(entry)}/`),
  )
  const [longest] = fitting.sort((a, b) => idOf(b).length - idOf(a).length)
  if (longest !== undefined) return longest
  const ids = entries.map(idOf).join(', ') || 'none'
  throw new UsageError(`no provider matches '${target}'; the config has: ${ids}`)
}

/** All providers; the simulator only if it is the only one. */
function vendorsOf({ providers }: JsonObject): readonly JsonObject[] {
  const entries = list(providers).filter(isJsonObject)
  const real = entries.filter(({ type }) => type !== 'simulator')
  return real.length > 0 ? real : entries
}

/** The variable names of all `env.NAME` in an entry of the config. */
function variablesIn(value: JsonValue): readonly string[] {
  if (typeof value === 'string') return /^env\.(\w+)$/.exec(value)?.slice(1) ?? []
  return typeof value === 'object' && value !== null
    ? Object.values(value).flatMap((each) => (each === undefined ? [] : variablesIn(each)))
    : []
}

interface Route extends JsonObject {
  readonly model: string
  readonly upstream_model: string
}

/** The enabled routes of a provider, each with its model. */
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

/** Removes telemetry, so that trials do not appear in the operator's metrics. */
function withoutTelemetry(server: JsonValue | undefined): JsonObject {
  const entries = Object.entries(isJsonObject(server) ? server : {})
  return Object.fromEntries(entries.filter(([name]) => !name.startsWith('otel_')))
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}
