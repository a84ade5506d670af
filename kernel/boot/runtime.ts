import type { Logger } from 'pino'
import type { LoadedConfig } from '../config/loaded.ts'
import type { Lease, Runtime } from '../lifecycle/exchange.ts'
import {
  type BoundRoute,
  type BoundRouteFacts,
  type ConfigInForce,
  conversions,
  dialects,
  type GuardPolicies,
  type GuardPolicy,
  guard,
  type RouteSpec,
} from '../plugin/index.ts'
import { containDisposal } from '../registry/contain.ts'
import { createInstances, effectiveCapabilities, type Instances } from '../registry/instances.ts'
import type { Registry } from '../registry/registry.ts'
import { mayUse } from '../routing/access.ts'
import { createCatalog } from '../routing/catalog.ts'
import { type Languages, waysOf } from '../routing/ways.ts'

/** A runtime that is ready to serve requests, with its disposer. */
export interface PreparedRuntime {
  readonly runtime: Runtime
  /** Never rejects. */
  dispose(): Promise<void>
}

/** Also has its routes by id, including disabled ones. */
export interface BoundRuntime extends PreparedRuntime {
  readonly routes: ReadonlyMap<string, BoundRouteFacts>
}

/**
 * Creates the providers of a config, binds all its routes and compiles its guardrails. Throws
 * ConfigError after it has disposed what it created.
 */
export async function prepareRuntime(
  loaded: LoadedConfig,
  registry: Pick<Registry, 'all' | 'provided'>,
  log: Logger,
): Promise<BoundRuntime> {
  const instances = await createInstances(loaded, registry, log)
  let policies: GuardPolicies | undefined
  const languages: Languages = {
    dialects: new Map(registry.all(dialects).map((dialect) => [dialect.id, dialect])),
    conversions: registry.all(conversions),
  }
  async function dispose() {
    await containDisposal('the guardrail policies', log, () => policies?.dispose?.())
    await instances.dispose()
  }
  warnOfUnknownDialects(instances, languages, log)
  try {
    policies = await registry.all(guard)[0]?.compile(loaded.snapshot)
    return {
      runtime: createRuntime(loaded, instances, languages, policies),
      routes: factsOf(loaded, instances, languages),
      dispose,
    }
  } catch (error) {
    await dispose()
    throw error
  }
}

/** Only warns: a plugin may be left out on purpose, or the name of an executor be misspelt. */
function warnOfUnknownDialects({ bound }: Instances, { dialects }: Languages, log: Logger): void {
  const routes = new Map<string, string[]>()
  for (const [id, { execute }] of bound) {
    for (const dialect of Object.keys(execute)) {
      if (dialects.has(dialect)) continue
      routes.set(dialect, [...(routes.get(dialect) ?? []), id])
    }
  }
  for (const [dialect, ids] of routes) {
    log.warn({ dialect, routes: ids }, 'routes execute a dialect that no loaded plugin declares')
  }
}

function factsOf(
  { snapshot }: LoadedConfig,
  { bound }: Instances,
  languages: Languages,
): Map<string, BoundRouteFacts> {
  const routes = new Map<string, BoundRouteFacts>()
  for (const spec of [...snapshot.models.values()].flatMap((model) => model.routes)) {
    const route = bound.get(spec.id)
    if (route === undefined) continue
    const { pricing } = route
    routes.set(spec.id, { capabilities: abilities(spec, route, languages).capabilities, pricing })
  }
  return routes
}

function createRuntime(
  { snapshot }: LoadedConfig,
  instances: Instances,
  languages: Languages,
  policies: GuardPolicies | undefined,
): Runtime {
  return {
    configVersion: snapshot.version,
    acceptedAt: new Date(),
    providers: snapshot.providers,
    guards: policies,
    catalog: createCatalog(snapshot.models, (spec) => {
      const bound = instances.bound.get(spec.id) ?? instances.bindNamed(spec)
      const guard = policies?.forRoute(spec.model, spec.provider, spec.upstreamModel)
      return { spec, bound, ...abilities(spec, bound, languages, guard), guard }
    }),
  }
}

function abilities(spec: RouteSpec, bound: BoundRoute, languages: Languages, guard?: GuardPolicy) {
  const ways = waysOf(bound, languages, guard)
  return { ways, capabilities: effectiveCapabilities(spec, bound, ways) }
}

export interface CurrentRuntime {
  /** A lease on the active runtime, which keeps it alive until it is released. */
  lease(): Lease
  /** Activates another runtime; the old one is disposed when its last lease is released. */
  replace(next: PreparedRuntime): void
  /** Disposes the active runtime when its last lease is released. */
  close(): Promise<void>
}

interface Held {
  readonly runtime: Runtime
  readonly dispose: () => Promise<void>
  readonly disposed: PromiseWithResolvers<void>
  leases: number
  retired: boolean
}

export function createCurrentRuntime(first: PreparedRuntime): CurrentRuntime {
  let held = hold(first)

  function hold({ runtime, dispose }: PreparedRuntime): Held {
    return { runtime, dispose, disposed: Promise.withResolvers(), leases: 0, retired: false }
  }
  function disposeWhenFree(one: Held): void {
    if (one.retired && one.leases === 0) void one.dispose().then(one.disposed.resolve)
  }
  function retire(one: Held): void {
    one.retired = true
    disposeWhenFree(one)
  }

  return {
    lease() {
      const one = held
      one.leases++
      return {
        runtime: one.runtime,
        release() {
          one.leases--
          disposeWhenFree(one)
        },
      }
    },
    replace(next) {
      const old = held
      held = hold(next)
      retire(old)
    },
    async close() {
      retire(held)
      await held.disposed.promise
    },
  }
}

export interface RuntimeForPlugins extends ConfigInForce {
  /** Sets the active runtime. */
  use(current: Pick<CurrentRuntime, 'lease'>): void
}

/** The capability `runtime`, created with the plugins before a config is active. */
export function createRuntimeForPlugins(): RuntimeForPlugins {
  let current: Pick<CurrentRuntime, 'lease'> | undefined
  return {
    use(made) {
      current = made
    },
    lease() {
      if (current === undefined) throw new Error('the config is not active yet: wait for the start')
      const { runtime, release } = current.lease()
      return {
        configVersion: runtime.configVersion,
        acceptedAt: runtime.acceptedAt,
        guards: runtime.guards,
        modelsOf: (principal) =>
          [...runtime.catalog.models.values()]
            .filter((model) => mayUse(principal, model))
            .map(({ id }) => id)
            .sort(),
        release,
      }
    },
  }
}
