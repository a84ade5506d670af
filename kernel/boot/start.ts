import { dirname } from 'node:path'
import type { Logger } from 'pino'
import { checkConfig } from '../config/check.ts'
import type { LoadedConfig, LoadedPlugin } from '../config/loaded.ts'
import { parseConfig } from '../config/parse.ts'
import { formatProblems, type LocatedProblem } from '../config/problems.ts'
import { createEgress, removeProxyVariables } from '../egress/egress.ts'
import { type Listening, listen } from '../http/listen.ts'
import type { LifecycleServices, Runtime } from '../lifecycle/exchange.ts'
import { createInference } from '../lifecycle/inference.ts'
import { createModelList } from '../lifecycle/models.ts'
import {
  type Accounting,
  accounting,
  ConfigError,
  type ExtensionPoint,
  exchangeRecorders,
  identity,
  snapshotListeners,
} from '../plugin/index.ts'
import { createInstances, effectiveCapabilities, type Instances } from '../registry/instances.ts'
import { orderPlugins } from '../registry/order.ts'
import { PluginError, type Registry, startPlugins } from '../registry/registry.ts'
import { type Builtins, resolvePlugins } from '../registry/resolve.ts'
import { createCatalog } from '../routing/catalog.ts'
import {
  DatabaseError,
  DataDirectoryInUseError,
  MigrationError,
  migrate,
  type OpenDatabase,
  openDatabase,
  type PluginMigrations,
} from '../storage/index.ts'
import { createSchedule } from './schedule.ts'
import type { ConfigSource } from './source.ts'

export interface BootOptions {
  readonly source: ConfigSource
  readonly builtins: Builtins
  readonly dataDir: string
  readonly env: Record<string, string | undefined>
  readonly log: Logger
}

/** The gateway cannot start as it has been told to. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

/** The message of an error that the operator can do something about; no stack is needed for it. */
export function operatorMessage(error: unknown): string | undefined {
  if (error instanceof ConfigError) {
    return `the config cannot be used:\n${formatProblems(error.problems, 'config')}`
  }
  return error instanceof StartError ||
    error instanceof PluginError ||
    error instanceof DatabaseError ||
    error instanceof DataDirectoryInUseError ||
    error instanceof MigrationError
    ? error.message
    : undefined
}

/** Name of the bundled config in messages. */
const QUICKSTART = 'quick start config'

export interface ReadConfig {
  /** Absent when a problem is an error. */
  readonly loaded: LoadedConfig | undefined
  /** In the order of their set-up. */
  readonly plugins: readonly LoadedPlugin[]
  readonly problems: readonly LocatedProblem[]
  readonly file: string
}

/** Reads and checks the config with everything that it names, and runs nothing of it. */
export async function readConfig(
  options: Pick<BootOptions, 'source' | 'builtins' | 'env'>,
): Promise<ReadConfig> {
  const file = options.source.file ?? QUICKSTART
  const parsed = parseConfig({ text: options.source.text, file })
  const directory = options.source.file === undefined ? process.cwd() : dirname(file)
  const resolved = await resolvePlugins(parsed.data?.plugins, {
    builtins: options.builtins,
    directory,
  })
  const ordered = orderPlugins(resolved.plugins)
  const problems = [...resolved.problems, ...ordered.problems]
  const checked = checkConfig(parsed, { ...resolved, problems }, options.env)
  return { ...checked, loaded: checked.loaded, plugins: ordered.plugins, file }
}

/** A config in force: database open, plugins set up, nothing listening yet. */
export interface Assembled {
  readonly loaded: LoadedConfig
  readonly database: OpenDatabase
  readonly registry: Registry
  close(): Promise<void>
}

/** Everything up to the point where requests could be served. Throws StartError. */
export async function assemble(
  options: BootOptions & { readonly attach?: boolean },
): Promise<Assembled> {
  const { log, env } = options
  removeProxyVariables(env)
  const { loaded, plugins, problems, file } = await readConfig(options)
  if (loaded === undefined) {
    throw new StartError(`the config cannot be used:\n${formatProblems(problems, file)}`)
  }
  for (const problem of problems) log.warn(formatProblems([problem], file))

  const database = await openDatabase({
    url: loaded.databaseUrl?.reveal(),
    dataDir: options.dataDir,
    attach: options.attach ?? false,
    log: (line) => log.debug({ component: 'postgres' }, line),
  })
  try {
    const applied = await migrate(database.sql, migrationsOf(plugins))
    if (applied.length > 0) log.info({ migrations: applied.length }, 'database migrated')
    const egress = createEgress(loaded.server.egressProxy)
    const registry = await startPlugins({
      plugins,
      configs: loaded.pluginConfigs,
      capabilities: (plugin, pluginLog, signal) => ({
        egress,
        database: database.forPlugin(plugin.manifest.id),
        schedule: createSchedule(pluginLog, signal),
        clock: { now: () => new Date() },
      }),
      log,
    })
    try {
      for (const listener of registry.all(snapshotListeners)) {
        await listener.accepted(loaded.snapshot)
      }
    } catch (error) {
      await registry.dispose()
      throw error
    }
    return {
      loaded,
      database,
      registry,
      async close() {
        await registry.dispose()
        await database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}

export function migrationsOf(plugins: readonly LoadedPlugin[]): PluginMigrations[] {
  return plugins.map(({ plugin: { manifest } }) => ({
    plugin: manifest.id,
    migrations: manifest.migrations ?? [],
  }))
}

/** Accounting of a gateway that is told to run without: everything passes, nothing is written. */
const noAccounting: Accounting = {
  admit() {},
  settle: () => Promise.resolve({ kind: 'none' }),
}

function requireGoverned(registry: Registry): void {
  const needed: ExtensionPoint<unknown>[] = [accounting, exchangeRecorders]
  const missing = needed.filter((point) => registry.all(point).length === 0)
  if (missing.length === 0) return
  const names = missing.map(({ name }) => name).join(', ')
  throw new StartError(
    `no plugin provides ${names}: load builtin:accounting and builtin:request-log, or set server.ungoverned: true to measure without them`,
  )
}

export interface Gateway {
  readonly url: string
  readonly registry: Registry
  /** Drains running requests, then takes everything down. */
  stop(): Promise<void>
}

/** Longest time that an abandoned stream is read on. */
const ABORT_DRAIN_MS = 10_000

/** Boots a gateway that listens. Throws StartError. */
export async function startGateway(options: BootOptions): Promise<Gateway> {
  const { log } = options
  const assembled = await assemble(options)
  const { loaded, registry } = assembled
  let instances: Instances | undefined
  let listening: Listening
  try {
    if (!loaded.server.ungoverned) requireGoverned(registry)
    instances = await createInstances(loaded, registry, log)
    const runtime = createRuntime(loaded, instances)
    const services: LifecycleServices = {
      runtime: () => runtime,
      identity: registry.one(identity),
      accounting: registry.all(accounting)[0] ?? noAccounting,
      recorders: registry.all(exchangeRecorders),
      random: Math.random,
      abortDrainMs: ABORT_DRAIN_MS,
      fault: (message, err, requestId) => log.error({ err, requestId }, message),
    }
    listening = listen({
      hostname: loaded.server.hostname,
      port: loaded.server.port,
      bodyTimeoutMs: loaded.server.bodyTimeoutMs,
      log,
      services: {
        infer: createInference(services),
        listModels: createModelList(services),
        bodyLimits: {
          maxBytes: loaded.server.maxBodyBytes,
          timeoutMs: loaded.server.bodyTimeoutMs,
        },
        fault: services.fault,
      },
    })
  } catch (error) {
    await instances?.dispose()
    await assembled.close()
    throw error
  }
  log.info({ url: listening.url, configVersion: loaded.snapshot.version }, 'the gateway is serving')
  let stopping: Promise<void> | undefined
  return {
    url: listening.url,
    registry,
    stop() {
      stopping ??= (async () => {
        await listening.stop(loaded.server.shutdownGraceMs)
        await instances.dispose()
        await assembled.close()
      })()
      return stopping
    },
  }
}

function createRuntime(loaded: LoadedConfig, instances: Instances): Runtime {
  const { snapshot } = loaded
  return {
    configVersion: snapshot.version,
    acceptedAt: new Date(),
    providers: snapshot.providers,
    catalog: createCatalog(snapshot.models, (spec) => {
      const bound = instances.bound.get(spec.id)
      if (bound === undefined) throw new Error(`route ${spec.id} was not bound`)
      return { spec, bound, capabilities: effectiveCapabilities(spec, bound) }
    }),
  }
}
