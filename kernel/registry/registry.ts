import { metrics, trace } from '@opentelemetry/api'
import type { Logger } from 'pino'
import type { LoadedPlugin } from '../config/loaded.ts'
import { formatPath } from '../config/problems.ts'
import {
  type Capabilities,
  type CapabilityName,
  ConfigError,
  type ConfigPath,
  type Disposer,
  type ExtensionPoint,
  type Plugin,
  type PluginContext,
  providerFactories,
  type Services,
} from '../plugin/index.ts'
import { contain } from './contain.ts'

const DISPOSE_DEADLINE_MS = 10_000

/** A plugin that could not be started: names it and the place in the config that loads it. */
export class PluginError extends Error {
  override readonly name = 'PluginError'
  readonly pluginId: string
  readonly path: ConfigPath
  constructor(loaded: LoadedPlugin, cause: unknown) {
    const { id } = loaded.plugin.manifest
    const reason = cause instanceof Error ? cause.message : String(cause)
    super(`plugin "${id}" (${formatPath(loaded.path)}: ${loaded.use}): ${reason}`, { cause })
    this.pluginId = id
    this.path = loaded.path
  }
}

/** A started plugin, as shown to operators. */
export interface StartedPlugin {
  readonly id: string
  readonly version: string
  readonly summary: string
  /** What loaded it: `builtin:identity`, a path, `npm:…`. */
  readonly use: string
  /** Names of the extension points it provides something for, each once. */
  readonly provides: readonly string[]
}

export interface Registry extends Services {
  readonly plugins: readonly StartedPlugin[]
  /** Disposes all plugins in reverse. Never throws; a second call does nothing. */
  dispose(): Promise<void>
}

/** The registry brings `services` itself. */
export type KernelCapabilities = Omit<Capabilities, 'services'>

export interface StartOptions {
  /** In the order in which they are set up. */
  readonly plugins: readonly LoadedPlugin[]
  /** By plugin id, checked and frozen. */
  readonly configs: ReadonlyMap<string, unknown>
  /**
   * The capabilities of one plugin, made for it alone; only those that it needs are read. `signal`
   * aborts when the plugin is disposed.
   */
  capabilities(plugin: Plugin, log: Logger, signal: AbortSignal): KernelCapabilities
  readonly log: Logger
  /** Milliseconds for the set-up of one plugin. Default 10 000. */
  readonly setupDeadlineMs?: number
}

interface Provided {
  /** Id of the plugin that came first. */
  readonly by: string
  readonly implementations: unknown[]
}

interface Running {
  readonly id: string
  readonly log: Logger
  readonly abort: AbortController
  disposer: Disposer | undefined
}

function checkProviderTypes({ manifest }: Plugin, provided: readonly unknown[]) {
  const declared = (manifest.providerTypes ?? []).map(({ type }) => type)
  const made = provided.map((factory) => (factory as { type: string }).type)
  for (const type of declared) {
    if (!made.includes(type)) throw new Error(`declares provider type "${type}" without a factory`)
  }
  for (const [index, type] of made.entries()) {
    if (!declared.includes(type)) {
      throw new Error(`provides a factory for "${type}", a provider type it does not declare`)
    }
    if (made.indexOf(type) !== index) throw new Error(`provides two factories for "${type}"`)
  }
}

/**
 * Sets the plugins up, one after the other, and freezes what they provide. When one fails, those
 * before it are disposed in reverse, and PluginError or ConfigError says which and why.
 */
export async function startPlugins(options: StartOptions): Promise<Registry> {
  const { log, setupDeadlineMs = 10_000 } = options
  const points = new Map<string, Provided>()
  const running: Running[] = []
  const started: StartedPlugin[] = []
  let frozen = false

  function all<T>(point: ExtensionPoint<T>): readonly T[] {
    if (!frozen) throw new Error(`services are there after set-up; ${point.name} was asked earlier`)
    return (points.get(point.name)?.implementations ?? []) as unknown as readonly T[]
  }
  function one<T>(point: ExtensionPoint<T>): T {
    const implementations = all(point)
    if (implementations.length === 0) throw new Error(`no plugin provides ${point.name}`)
    return implementations[0] as T
  }
  const services: Services = Object.freeze({ all, one })

  async function disposeOne({ id, abort, disposer, log }: Running) {
    abort.abort()
    if (disposer === undefined) return
    try {
      const call = `disposal of plugin "${id}"`
      await contain({ call, deadlineMs: DISPOSE_DEADLINE_MS, log }, disposer)
    } catch (error) {
      log.error({ err: error }, 'the plugin failed to dispose')
    }
  }
  let disposal: Promise<void> | undefined
  async function disposeAll() {
    for (const plugin of running.toReversed()) await disposeOne(plugin)
  }
  function dispose(): Promise<void> {
    disposal ??= disposeAll()
    return disposal
  }

  function contextOf(plugin: Plugin, abort: AbortController, log: Logger, provides: Set<string>) {
    const { id, needs } = plugin.manifest
    const open = { value: true }
    const own: unknown[] = []
    const offered = options.capabilities(plugin, log, abort.signal)
    const context = {
      config: options.configs.get(id),
      log,
      meter: metrics.getMeter(id),
      tracer: trace.getTracer(id),
      signal: abort.signal,
      provide<T>(point: ExtensionPoint<T>, implementation: T) {
        if (!open.value) {
          throw new Error(`plugin "${id}" provides ${point.name} after its set-up returned`)
        }
        const provided = points.get(point.name)
        if (point.cardinality === 'one' && provided !== undefined) {
          throw new Error(`${point.name} is already provided by plugin "${provided.by}"`)
        }
        if (provided === undefined) {
          points.set(point.name, { by: id, implementations: [implementation] })
        } else provided.implementations.push(implementation)
        if (point.name === providerFactories.name) own.push(implementation)
        provides.add(point.name)
      },
      ...Object.fromEntries(
        needs.map((name) => [name, name === 'services' ? services : offered[name]]),
      ),
    }
    return { context: Object.freeze(context) as PluginContext<unknown, CapabilityName>, open, own }
  }

  async function start({ plugin, use }: LoadedPlugin) {
    const { id, version, summary } = plugin.manifest
    const own: Running = {
      id,
      log: log.child({ plugin: id }),
      abort: new AbortController(),
      disposer: undefined,
    }
    running.push(own)
    const provides = new Set<string>()
    const { context, open, own: factories } = contextOf(plugin, own.abort, own.log, provides)
    try {
      const disposer = await contain(
        {
          call: 'set-up',
          deadlineMs: setupDeadlineMs,
          log: own.log,
          late: (disposer) => disposeOne({ ...own, disposer: disposer ?? undefined }),
        },
        () => plugin.setup(context),
      )
      if (typeof disposer === 'function') own.disposer = disposer
    } finally {
      open.value = false
    }
    checkProviderTypes(plugin, factories)
    started.push(Object.freeze({ id, version, summary, use, provides: [...provides] }))
  }

  for (const loaded of options.plugins) {
    try {
      await start(loaded)
    } catch (error) {
      await dispose()
      if (!(error instanceof ConfigError)) throw new PluginError(loaded, error)
      const by = `(plugin "${loaded.plugin.manifest.id}", ${formatPath(loaded.path)})`
      throw new ConfigError(error.problems.map((p) => ({ ...p, message: `${p.message} ${by}` })))
    }
  }
  for (const { implementations } of points.values()) Object.freeze(implementations)
  frozen = true
  return Object.freeze({ all, one, plugins: Object.freeze(started), dispose })
}
