import type { Logger } from 'pino'
import type { LoadedConfig, LoadedProvider } from '../config/loaded.ts'
import {
  type BoundRoute,
  BoundRouteShape,
  ConfigError,
  type ConfigPath,
  features,
  GatewayError,
  type Problem,
  type Provider,
  providerFactories,
  type RouteFlags,
  type RouteSpec,
} from '../plugin/index.ts'
import { contain, containDisposal } from './contain.ts'
import type { Registry } from './registry.ts'
import { shapeFault } from './shape.ts'

const CREATE_DEADLINE_MS = 10_000

/** The providers of one config and its bound routes. */
export interface Instances {
  /** By route id, disabled routes included. */
  readonly bound: ReadonlyMap<string, BoundRoute>
  /**
   * Binds the route of a wildcard model for one name. Throws GatewayError `model_not_found` if its
   * provider cannot serve that name.
   */
  bindNamed(route: RouteSpec): BoundRoute
  /** Disposes the providers in reverse order. Never throws; a second call does nothing. */
  dispose(): Promise<void>
}

/** The capabilities of a route: allowed by its config and supported by its provider. */
export function effectiveCapabilities(
  { capabilities }: RouteSpec,
  bound: BoundRoute,
  ways: ReadonlyMap<string, unknown>,
): RouteFlags {
  const can = (flag: string) =>
    (features as readonly string[]).includes(flag)
      ? (bound.supports as readonly string[]).includes(flag)
      : ways.has(flag)
  return Object.freeze(
    Object.fromEntries(
      Object.entries(capabilities).map(([flag, allowed]) => [flag, allowed && can(flag)]),
    ),
  )
}

/** Turns an error of a provider or route into config problems with absolute paths. */
function asProblems(
  error: unknown,
  path: ConfigPath,
  doing: string,
  plugin: string | undefined,
): readonly Problem[] {
  if (error instanceof ConfigError) {
    return error.problems.map((problem) => ({ ...problem, path: [...path, ...problem.path] }))
  }
  const reason = error instanceof Error ? error.message : String(error)
  const by = plugin === undefined ? '' : ` (plugin "${plugin}")`
  return [{ path, message: `${doing} failed: ${reason}${by}` }]
}

function bindRoute(provider: Provider, spec: RouteSpec): BoundRoute {
  const bound = provider.bind(spec)
  if (bound instanceof Promise) throw new Error('bind must return a route, not a promise')
  const fault = shapeFault(BoundRouteShape, bound)
  if (fault !== undefined) throw new Error(`the bound route is not valid: ${fault}`)
  if (Object.values(bound.execute).every((execute) => execute === undefined)) {
    throw new Error('the bound route executes no dialect')
  }
  return bound
}

/**
 * Creates all providers of a config and binds all its routes. If any fails, disposes what was
 * created and throws one ConfigError with all problems.
 */
export async function createInstances(
  loaded: LoadedConfig,
  registry: Pick<Registry, 'provided'>,
  log: Logger,
): Promise<Instances> {
  const factories = new Map(
    registry.provided(providerFactories).map((each) => [each.implementation.type, each]),
  )
  const created: { id: string; provider: Provider }[] = []
  const problems: Problem[] = []

  const disposeOne = ({ id, provider }: (typeof created)[number]) =>
    containDisposal(`provider "${id}"`, log, () => provider.dispose?.())
  let disposal: Promise<void> | undefined
  async function disposeAll() {
    for (const instance of created.toReversed()) await disposeOne(instance)
  }
  function dispose(): Promise<void> {
    disposal ??= disposeAll()
    return disposal
  }

  async function create({ spec, settings, config }: LoadedProvider) {
    const { id, type } = spec
    const factory = factories.get(type)?.implementation
    if (factory === undefined) throw new Error(`no plugin makes providers of type "${type}"`)
    const provider = await contain<Provider>(
      {
        call: 'the creation',
        deadlineMs: CREATE_DEADLINE_MS,
        log,
        late: (late) => disposeOne({ id, provider: late }),
      },
      () => factory.create(config, settings),
    )
    if (typeof provider?.bind !== 'function') throw new Error('its factory must return a provider')
    created.push({ id, provider })
  }

  for (const [index, provider] of loaded.providers.entries()) {
    try {
      await create(provider)
    } catch (error) {
      const doing = `creating provider "${provider.spec.id}"`
      const by = factories.get(provider.spec.type)?.plugin
      problems.push(...asProblems(error, ['providers', index], doing, by))
    }
  }
  const providers = new Map(created.map(({ id, provider }) => [id, provider]))
  const pluginOf = (id: string) =>
    factories.get(loaded.snapshot.providers.get(id)?.type ?? '')?.plugin
  const bound = new Map<string, BoundRoute>()
  for (const [index, model] of [...loaded.snapshot.models.values()].entries()) {
    for (const [at, route] of model.routes.entries()) {
      const provider = providers.get(route.provider)
      // The failed creation of the provider is already reported.
      if (provider === undefined) continue
      try {
        bound.set(route.id, bindRoute(provider, route))
      } catch (error) {
        const path = ['models', index, 'routes', at]
        const doing = `binding route ${route.id}`
        problems.push(...asProblems(error, path, doing, pluginOf(route.provider)))
      }
    }
  }
  if (problems.length > 0) {
    await dispose()
    throw new ConfigError(problems)
  }
  function bindNamed(route: RouteSpec): BoundRoute {
    const provider = providers.get(route.provider)
    if (provider === undefined) throw new Error(`provider ${route.provider} does not exist`)
    try {
      return bindRoute(provider, route)
    } catch (cause) {
      if (!(cause instanceof ConfigError)) throw cause
      const why = cause.problems.map(({ message }) => message).join('; ')
      const message = `model '${route.model}' cannot be served by ${route.provider}: ${why}`
      throw new GatewayError('model_not_found', message, { cause })
    }
  }
  return { bound, bindNamed, dispose }
}
