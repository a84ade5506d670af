import type { Logger } from 'pino'
import type { LoadedConfig, LoadedProvider } from '../config/loaded.ts'
import {
  type BoundRoute,
  ConfigError,
  type ConfigPath,
  type Family,
  families,
  type Problem,
  type Provider,
  type ProviderFactory,
  providerFactories,
  type RouteFlag,
  type RouteSpec,
  type Services,
} from '../plugin/index.ts'
import { contain } from './contain.ts'

const CREATE_DEADLINE_MS = 10_000
const DISPOSE_DEADLINE_MS = 10_000

/** The providers of one config, with all its routes bound. */
export interface Instances {
  /** By route id, disabled routes included. */
  readonly bound: ReadonlyMap<string, BoundRoute>
  /** Disposes the providers in reverse. Never throws; a second call does nothing. */
  dispose(): Promise<void>
}

/** What a route can be asked to do: what its config allows and its provider can execute. */
export function effectiveCapabilities(
  { capabilities }: RouteSpec,
  bound: BoundRoute,
): Readonly<Record<RouteFlag, boolean>> {
  const supports = (flag: Exclude<RouteFlag, Family>) =>
    capabilities[flag] && bound.supports.includes(flag)
  const executes = (family: Family) => capabilities[family] && bound[family] !== undefined
  return Object.freeze({
    chat_completions: executes('chat_completions'),
    responses: executes('responses'),
    embeddings: executes('embeddings'),
    stream: supports('stream'),
    tools: supports('tools'),
    vision: supports('vision'),
    json_schema: supports('json_schema'),
  })
}

/** A fault of one provider or route as problems of the config, their paths made absolute. */
function asProblems(error: unknown, path: ConfigPath, doing: string): readonly Problem[] {
  if (error instanceof ConfigError) {
    return error.problems.map((problem) => ({ ...problem, path: [...path, ...problem.path] }))
  }
  const reason = error instanceof Error ? error.message : String(error)
  return [{ path, message: `${doing} failed: ${reason}` }]
}

function bindRoute(provider: Provider, spec: RouteSpec): BoundRoute {
  const bound: unknown = provider.bind(spec)
  const valid =
    typeof bound === 'object' &&
    bound !== null &&
    'supports' in bound &&
    Array.isArray(bound.supports) &&
    'pricing' in bound &&
    typeof bound.pricing === 'object' &&
    families.every((name) => ['undefined', 'function'].includes(typeof bound[name as never]))
  if (!valid) throw new Error('the provider returned no bound route')
  return Object.freeze(bound as unknown as BoundRoute)
}

/**
 * Creates all providers of a config and binds all its routes. Throws one ConfigError with
 * everything that cannot work, after disposing what was created.
 */
export async function createInstances(
  loaded: LoadedConfig,
  registry: Services,
  log: Logger,
): Promise<Instances> {
  const factories = new Map<string, ProviderFactory>()
  for (const factory of registry.all(providerFactories)) factories.set(factory.type, factory)
  const created: { id: string; provider: Provider }[] = []
  const problems: Problem[] = []

  async function disposeOne({ id, provider }: (typeof created)[number]) {
    const call = `disposal of provider "${id}"`
    try {
      await contain({ call, deadlineMs: DISPOSE_DEADLINE_MS, log }, () => provider.dispose?.())
    } catch (error) {
      log.error({ err: error, provider: id }, `${call} failed`)
    }
  }
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
    const factory = factories.get(type)
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
    if (typeof provider?.bind !== 'function') throw new Error('its factory returned no provider')
    created.push({ id, provider })
  }

  for (const [index, provider] of loaded.providers.entries()) {
    try {
      await create(provider)
    } catch (error) {
      const doing = `creating provider "${provider.spec.id}"`
      problems.push(...asProblems(error, ['providers', index], doing))
    }
  }
  const providers = new Map(created.map(({ id, provider }) => [id, provider]))
  const bound = new Map<string, BoundRoute>()
  for (const [index, model] of [...loaded.snapshot.models.values()].entries()) {
    for (const [at, route] of model.routes.entries()) {
      const provider = providers.get(route.provider)
      // Its provider could not be created, which is a problem of its own.
      if (provider === undefined) continue
      try {
        bound.set(route.id, bindRoute(provider, route))
      } catch (error) {
        const path = ['models', index, 'routes', at]
        problems.push(...asProblems(error, path, `binding route ${route.id}`))
      }
    }
  }
  if (problems.length > 0) {
    await dispose()
    throw new ConfigError(problems)
  }
  return { bound, dispose }
}
