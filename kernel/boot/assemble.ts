import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { LoadedConfig, LoadedPlugin } from '../config/loaded.ts'
import { formatProblems } from '../config/problems.ts'
import { createEgress, removeProxyVariables } from '../egress/egress.ts'
import { createGate, type GateOptions } from '../egress/gate.ts'
import { createOutbound } from '../egress/outbound.ts'
import { createDoor } from '../http/own-host.ts'
import { type ConfigSnapshot, type Door, snapshotListeners } from '../plugin/index.ts'
import { contain } from '../registry/contain.ts'
import { PluginError, type Registry, startPlugins } from '../registry/registry.ts'
import type { Builtins } from '../registry/resolve.ts'
import { type OpenDatabase, openDatabase, type StartDatabase } from '../storage/database.ts'
import { schemaName } from '../storage/schema-name.ts'
import { operatorMessage, type ProvidedBy } from './errors.ts'
import { type Inspected, inspectionOf } from './inspection.ts'
import { migrateAll } from './migrations.ts'
import { type ConfigSource, type ReadConfig, readConfig, requireLoaded } from './read-config.ts'
import { createRuntimeForPlugins, type RuntimeForPlugins } from './runtime.ts'
import { createSchedule } from './schedule.ts'
import { unlessAborted } from './signals.ts'

/** The version of the gateway; the same as in package.json. */
export const VERSION = '0.1.0'

/** How long a cancelled start waits for migrations; another process may run them for hours. */
const MIGRATION_PATIENCE_MS = 2_000
/** Limit for one listener to prepare for a config; it may wait for other replicas. */
const PREPARE_DEADLINE_MS = 60_000

export interface BootOptions {
  readonly source: ConfigSource
  readonly builtins: Builtins
  readonly providedBy?: ProvidedBy
  /** Starts the database if the config has no `database.url`. */
  readonly startDatabase: StartDatabase
  readonly dataDir: string
  readonly env: Record<string, string | undefined>
  readonly log: Logger
  /** Connect to the embedded database of a running gateway, if one runs. */
  readonly attach?: boolean
  /** Use the embedded database in the data directory, even if the config has a `database.url`. */
  readonly ownDatabase?: boolean
  /** True: the gateway serves requests. False: the plugins run for one command. */
  readonly serves?: boolean
  /** Resolves host names of URLs that do not come from the operator's config. */
  readonly outbound?: GateOptions
  /** Cancels the start: everything that was started is stopped, and the reason is thrown. */
  readonly ended?: AbortSignal
}

/** A loaded config with an open database and plugins set up; nothing listens yet. */
export interface Assembled {
  readonly config: ReadConfig
  readonly loaded: LoadedConfig
  readonly database: OpenDatabase
  readonly registry: Registry
  readonly door: Door
  readonly runtime: RuntimeForPlugins
  /** Tells plugins that the gateway shuts down. */
  drain(): void
  readonly inspected: Inspected
  close(): Promise<void>
}

/** Does all of the start except listening: config, database, plugins. */
export async function assemble(options: BootOptions): Promise<Assembled> {
  const { log, env, dataDir, ended } = options
  removeProxyVariables(env)
  const config = await readConfig(options.source, options.builtins, env)
  const loaded = requireLoaded(config)
  for (const problem of config.problems) log.warn(formatProblems([problem], config.file))

  ended?.throwIfAborted()
  const { startDatabase, attach = false, ownDatabase = false } = options
  const postgresLog = (line: string) => log.debug({ component: 'postgres' }, line)
  const database = await openDatabase(
    (ownDatabase ? undefined : loaded.databaseUrl?.reveal()) ??
      (() => startDatabase({ dataDir, attach, log: postgresLog })),
  )
  const inspected: Inspected = { loaded }
  let registry: Registry | undefined
  const gate = createGate(options.outbound)
  const ending = new AbortController()
  const { bind, public_base_url: publicBaseUrl, allowed_hosts } = loaded.server
  const allowedHosts = allowed_hosts?.map((host) => host.toLowerCase())
  const door = createDoor({ ...bind, publicBaseUrl, allowedHosts }, ending.signal)
  const runtime = createRuntimeForPlugins()
  try {
    const broken = await unlessAborted(ended, MIGRATION_PATIENCE_MS, () =>
      migrateAll(database, config.plugins, log),
    )
    const start = {
      version: VERSION,
      config: loaded.snapshot,
      serves: options.serves === true,
    }
    const egress = createEgress(loaded.server.egress_proxy, gate)
    const outbound = createOutbound(gate)
    registry = await startPlugins({
      plugins: config.plugins,
      broken,
      configs: loaded.pluginConfigs,
      capabilities: ({ manifest }, pluginLog, signal) => ({
        egress,
        outbound,
        database: database.forPlugin(manifest.id),
        schedule: createSchedule(pluginLog, signal),
        files: { directory: () => makeFolder(dataDir, schemaName(manifest.id)) },
        clock: { now: () => new Date() },
        door,
        inspection: inspectionOf(inspected, pluginLog),
        runtime: { lease: runtime.lease },
        start,
      }),
      log,
    })
    inspected.registry = registry
    ended?.throwIfAborted()
    const putIntoForce = await prepareListeners(registry, config.plugins, loaded.snapshot, log)
    for (const failure of putIntoForce()) throw failure
  } catch (error) {
    await registry?.dispose()
    await database.close()
    throw error
  }
  const { dispose } = registry
  return {
    config,
    loaded,
    database,
    registry,
    door,
    runtime,
    drain: () => ending.abort(),
    inspected,
    async close() {
      await dispose()
      await database.close()
    },
  }
}

/**
 * Asks each listener to prepare for a config; rejects if one refuses it. Returns a function that
 * activates the config everywhere at once and returns what listeners threw, which they must not.
 */
export async function prepareListeners(
  registry: Pick<Registry, 'provided'>,
  plugins: readonly LoadedPlugin[],
  snapshot: ConfigSnapshot,
  log: Logger,
): Promise<() => readonly Error[]> {
  const listeners = registry.provided(snapshotListeners)
  const named = (id: string, error: unknown) => {
    const loaded = plugins.find(({ plugin }) => plugin.manifest.id === id)
    if (loaded === undefined || operatorMessage(error) !== undefined) return error as Error
    return new PluginError(loaded, error)
  }
  const ask = <T>(id: string, question: () => T | Promise<T>) =>
    contain(
      { call: 'preparing for the config', deadlineMs: PREPARE_DEADLINE_MS, log },
      question,
    ).catch((error) => {
      throw named(id, error)
    })
  for (const { plugin, implementation } of listeners) {
    await ask(plugin, () => implementation.check?.(snapshot))
  }
  const ready: { plugin: string; putIntoForce: () => void }[] = []
  for (const { plugin, implementation } of listeners) {
    const putIntoForce = await ask(plugin, async () => {
      const prepared: unknown = await implementation.prepare(snapshot)
      if (typeof prepared !== 'function') throw new Error('prepare must return a function')
      return prepared as () => void
    })
    ready.push({ plugin, putIntoForce })
  }
  return () =>
    ready.flatMap(({ plugin, putIntoForce }) => {
      try {
        putIntoForce()
        return []
      } catch (error) {
        return [named(plugin, error)]
      }
    })
}

function makeFolder(dataDir: string, name: string): string {
  const path = join(dataDir, name)
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch (cause) {
    const { code } = cause as { code?: string }
    const remedy = 'choose another with --data-dir or GATEWAY_DATA_DIR'
    const message = `cannot write to the data directory ${dataDir} (${code}): ${remedy}`
    throw Object.assign(new Error(message, { cause }), { code })
  }
  return path
}
