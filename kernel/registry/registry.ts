import type { Logger } from 'pino'
import type { LoadedPlugin } from '../config/loaded.ts'
import {
  type Capabilities,
  ConfigError,
  type ConfigPath,
  type Disposer,
  type ExtensionPoint,
  formatPath,
  type Isolation,
  isolation as isolationPoint,
  type LeftOutPlugin,
  type Plugin,
  type Provided,
  requiredPoints,
  type StartedPlugin,
} from '../plugin/index.ts'
import { contain, containDisposal } from './contain.ts'
import { contractPoints, createContext, only, type Provision } from './context.ts'
import { checkClaims, checkDeclared } from './declared.ts'

/** A plugin could not be started; the message names it and its place in the config. */
export class PluginError extends Error {
  override readonly name = 'PluginError'
  readonly path: ConfigPath
  constructor(loaded: LoadedPlugin, cause: unknown) {
    const { id } = loaded.plugin.manifest
    const reason = cause instanceof Error ? cause.message : String(cause)
    super(`plugin "${id}" (${formatPath(loaded.path)}: ${loaded.use}): ${reason}`, { cause })
    this.path = loaded.path
  }
}

export interface Registry {
  /** The implementations of a point. */
  all<T>(point: ExtensionPoint<T>): readonly T[]
  /** The only implementation of a point. Throws MissingServiceError. */
  one<T>(point: ExtensionPoint<T>): T
  readonly plugins: readonly StartedPlugin[]
  readonly leftOut: readonly LeftOutPlugin[]
  /** The implementations of a point, each with its plugin. */
  provided<T>(point: ExtensionPoint<T>): readonly Provided<T>[]
  /** Disposes all plugins in reverse order. Never throws; a second call does nothing. */
  dispose(): Promise<void>
}

export interface StartOptions {
  /** In set-up order. */
  readonly plugins: readonly LoadedPlugin[]
  /** By plugin id, checked and frozen. */
  readonly configs: ReadonlyMap<string, unknown>
  /**
   * Creates the capabilities for one plugin; only those in its `needs` are used. `signal` aborts
   * when the plugin is disposed.
   */
  capabilities(plugin: Plugin, log: Logger, signal: AbortSignal): Capabilities
  readonly log: Logger
  /** By plugin id: why a plugin cannot be set up, such as a failed migration. */
  readonly broken?: ReadonlyMap<string, unknown>
  /** Milliseconds for the set-up of one plugin. Default 10 000. */
  readonly setupDeadlineMs?: number
}

interface Running {
  readonly id: string
  readonly log: Logger
  readonly abort: AbortController
  disposer: Disposer | undefined
}

/**
 * Sets plugins up one after the other and freezes what they provide. A plugin with
 * `on_boot_failure: disable` that fails is left out with everything it registered. If another one
 * fails, the earlier ones are disposed in reverse order, and PluginError or ConfigError names the
 * plugin and the reason.
 */
export async function startPlugins(options: StartOptions): Promise<Registry> {
  const { log, setupDeadlineMs = 10_000 } = options
  const points = new Map<string, Provided<unknown>[]>()
  const contracted = contractPoints(options.plugins.map(({ plugin }) => plugin))
  const running: Running[] = []
  const started: StartedPlugin[] = []
  const leftOut: LeftOutPlugin[] = []
  /** Plugins that were left out, by the single points that they would have provided. */
  const lost = new Map<string, string>()
  /** The owner of each claim. */
  const claimed = new Map<string, string>()
  const frozenPoints = new Map<string, readonly unknown[]>()
  let frozen = false

  function all<T>(point: ExtensionPoint<T>): readonly T[] {
    if (!frozen) throw new Error(`${point.name} can be used once all plugins are set up`)
    return (frozenPoints.get(point.name) ?? []) as unknown as readonly T[]
  }

  function provided<T>(point: ExtensionPoint<T>): readonly Provided<T>[] {
    if (!frozen) throw new Error(`${point.name} can be used once all plugins are set up`)
    return (points.get(point.name) ?? []) as readonly Provided<T>[]
  }

  async function disposeOne({ id, abort, disposer, log }: Running) {
    abort.abort()
    if (disposer !== undefined) await containDisposal(`plugin "${id}"`, log, disposer)
  }
  let disposal: Promise<void> | undefined
  async function disposeAll() {
    for (const plugin of running.toReversed()) await disposeOne(plugin)
  }
  function dispose(): Promise<void> {
    disposal ??= disposeAll()
    return disposal
  }

  function isolator(): Isolation {
    const provided = points.get(isolationPoint.name)?.[0]
    if (provided === undefined) throw new Error('no loaded plugin can isolate it')
    return provided.implementation as Isolation
  }

  async function start({ plugin, use, module = use, isolation }: LoadedPlugin) {
    const { id, version, summary, needs, requires = [], provides = [] } = plugin.manifest
    const absent = requires.find((name) => leftOut.some((other) => other.id === name))
    if (absent !== undefined) throw new Error(`requires plugin "${absent}", which was left out`)
    if (options.broken?.has(id)) throw options.broken.get(id)
    const own: Running = {
      id,
      log: log.child({ plugin: id }),
      abort: new AbortController(),
      disposer: undefined,
    }
    running.push(own)
    const { context, provisions, close } = createContext({
      plugin,
      config: options.configs.get(id),
      log: own.log,
      signal: own.abort.signal,
      offered: options.capabilities(plugin, own.log, own.abort.signal),
      contracted,
      all,
      provided,
      providerOf: (point) => points.get(point.name)?.[0]?.plugin,
    })
    try {
      const disposer: unknown = await contain(
        {
          call: 'set-up',
          deadlineMs: setupDeadlineMs,
          log: own.log,
          late: (disposer) => disposeOne({ ...own, disposer: disposer ?? undefined }),
        },
        () =>
          isolation === undefined
            ? plugin.setup(context)
            : isolator().setup({ manifest: plugin.manifest, module }, context),
      )
      if (typeof disposer === 'function') own.disposer = disposer as Disposer
      else if (disposer !== undefined) {
        const what = typeof disposer === 'object' ? 'an object' : `a ${typeof disposer}`
        throw new Error(`its set-up returned ${what}: return a disposer function or nothing`)
      }
    } finally {
      close()
    }
    checkDeclared(plugin, provisions)
    for (const { name } of provides) {
      if (provisions.every(({ point }) => point.name !== name)) {
        throw new Error(`declares that it provides ${name} but does not`)
      }
    }
    checkClaims(id, provisions, claimed)
    register(id, provisions)
    const names = [...new Set(provisions.map(({ point }) => point.name))]
    started.push(Object.freeze({ id, version, summary, use, provides: names, needs, isolation }))
  }

  function register(plugin: string, provisions: readonly Provision[]) {
    for (const { point, implementation } of provisions) {
      const registered = points.get(point.name)
      const one = Object.freeze({ plugin, implementation })
      if (registered === undefined) points.set(point.name, [one])
      else registered.push(one)
    }
  }

  /** Leaves a failed plugin out with everything it registered. */
  async function leaveOut({ plugin, use }: LoadedPlugin, error: unknown) {
    const { id, version, provides = [] } = plugin.manifest
    for (const { name } of provides) lost.set(name, id)
    const own = running.findIndex((other) => other.id === id)
    if (own >= 0) await disposeOne(...(running.splice(own, 1) as [Running]))
    const reason = error instanceof Error ? error.message : String(error)
    leftOut.push(Object.freeze({ id, version, use, reason }))
    log.warn({ plugin: id, use, err: error }, 'the plugin failed to start and is left out')
  }

  for (const loaded of options.plugins) {
    try {
      await start(loaded)
    } catch (error) {
      if (loaded.onBootFailure === 'disable') {
        await leaveOut(loaded, error)
        continue
      }
      await dispose()
      if (!(error instanceof ConfigError)) throw new PluginError(loaded, error)
      const by = `(plugin "${loaded.plugin.manifest.id}", ${formatPath(loaded.path)})`
      throw new ConfigError(error.problems.map((p) => ({ ...p, message: `${p.message} ${by}` })))
    }
  }
  for (const loaded of options.plugins) {
    const { id, uses = {} } = loaded.plugin.manifest
    if (started.every((plugin) => plugin.id !== id)) continue
    for (const { name } of requiredPoints(uses)) {
      const by = lost.get(name)
      if (by === undefined) continue
      await dispose()
      throw new PluginError(loaded, new Error(`uses ${name} of plugin "${by}", which was left out`))
    }
  }
  for (const [name, provided] of points) {
    Object.freeze(provided)
    frozenPoints.set(name, Object.freeze(provided.map(({ implementation }) => implementation)))
  }
  frozen = true
  return Object.freeze({
    all,
    one: <T>(point: ExtensionPoint<T>) => only(point, all(point)),
    provided,
    plugins: Object.freeze(started),
    leftOut: Object.freeze(leftOut),
    dispose,
  })
}
