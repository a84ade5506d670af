import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ConfigSnapshot,
  capabilityNames,
  type Inspection,
  type Start,
} from 'model-gateway/host'
import type {
  Capabilities,
  CapabilityName,
  ConfigSection,
  Database,
  Disposer,
  ExtensionPoint,
  PluginContext,
  Static,
  TSchema,
} from 'model-gateway/plugin'
import { createSchedule } from '../../kernel/boot/schedule.ts'
import { createEgress } from '../../kernel/egress/egress.ts'
import { createGate } from '../../kernel/egress/gate.ts'
import { createOutbound } from '../../kernel/egress/outbound.ts'
import { createDoor } from '../../kernel/http/own-host.ts'
import { compileChains } from '../../kernel/lifecycle/compile-chains.ts'
import { type Registry, startPlugins } from '../../kernel/registry/registry.ts'
import type { AnyPlugin } from './kit.ts'
import { listenToOutput } from './output.ts'
import { loaded, secretsIn } from './schemas.ts'

export interface PluginBenchOptions {
  readonly plugin: AnyPlugin
  /** `plugins[].config` as the config file has it: `literal.VALUE` for a secret. */
  readonly config?: unknown
  /** Plugins whose services this one needs; they are set up before it, without a config. */
  readonly beside?: readonly AnyPlugin[]
  /** In the place of the real ones. */
  readonly capabilities?: Partial<Capabilities>
  /** Milliseconds that the set-up may take. Default 10 000, as in the gateway. */
  readonly setupDeadlineMs?: number
}

export interface Provided {
  readonly point: ExtensionPoint<unknown>
  readonly implementation: unknown
}

/** A plugin that is set up, or failed to be, without a gateway around it. */
export interface PluginBench {
  /** What it registered, in its order. */
  readonly provided: readonly Provided[]
  of<T>(point: ExtensionPoint<T>): readonly T[]
  /** Why it could not be set up. */
  readonly error: unknown
  /** Capabilities that it asked for although it declares no need of them. */
  readonly undeclared: ReadonlySet<CapabilityName>
  /** Points that it provided something for after its set-up was over. */
  readonly late: readonly string[]
  /** Values of the secrets in its config. */
  readonly secrets: readonly string[]
  /** What it logged and printed so far. */
  output(): string
  /** Calls its disposer once more, by itself. */
  disposeAgain(): Promise<void>
  dispose(): Promise<void>
}

const emptyGateway: Inspection = {
  plugins: () => [],
  leftOut: () => [],
  surfaces: () => [],
  chains: () => compileChains([], []),
  plan: () => Promise.reject(new Error('the bench has no models to plan with')),
}

/** The config of an empty file. */
const emptyConfig: ConfigSnapshot = {
  version: 'empty',
  models: new Map(),
  providers: new Map(),
  section: <S extends TSchema>({ name, schema }: ConfigSection<S>) =>
    loaded(schema, {}, name) as Static<S>,
}

/** Databases of plugins, migrated, one for each plugin until the process ends. */
const databases = new Map<string, Promise<Database>>()

/** The plugin's own schema in a database that nothing else uses. */
export function databaseOf({ manifest }: AnyPlugin): Promise<Database> {
  const known = databases.get(manifest.id)
  if (known !== undefined) return known
  const made = (async () => {
    const { createTestDatabase } = await import('../harness/database.ts')
    return await (await createTestDatabase()).forPlugin(manifest.id, manifest.migrations ?? [])
  })()
  databases.set(manifest.id, made)
  return made
}

/** Sets a plugin up with real capabilities. Never throws for what the plugin does. */
export async function setUpPlugin(options: PluginBenchOptions): Promise<PluginBench> {
  const { plugin, beside = [] } = options
  const config = loaded(plugin.manifest.config, options.config ?? {}, 'config')
  return await setUpWith(options, config, beside)
}

/** As `setUpPlugin`, with this very object as the loaded config. */
export async function setUpWith(
  options: PluginBenchOptions,
  config: unknown,
  beside: readonly AnyPlugin[],
): Promise<PluginBench> {
  const folder = mkdtempSync(join(tmpdir(), 'plugin-bench-'))
  const output = listenToOutput()
  const provided: Provided[] = []
  const undeclared = new Set<CapabilityName>()
  const late: string[] = []
  let disposer: Disposer | undefined
  let registry: Registry | undefined
  let error: unknown

  const watched: AnyPlugin = {
    manifest: options.plugin.manifest,
    async setup(context) {
      let over = false
      const seen = watch(context, {
        asked: (name) => undeclared.add(name),
        provides(point, implementation) {
          if (over) late.push(point.name)
          else provided.push({ point, implementation })
        },
      })
      try {
        const result = await options.plugin.setup(seen)
        if (typeof result === 'function') disposer = result
        return result
      } finally {
        over = true
      }
    },
  }
  const plugins = [...beside, watched]
  const needs = new Set(plugins.flatMap(({ manifest }) => manifest.needs))
  const gate = createGate()
  const start: Start = { version: '0.0.0', config: emptyConfig, serves: true }
  try {
    const stores = new Map<string, Database>()
    for (const each of needs.has('database') ? plugins : []) {
      if (each.manifest.needs.includes('database')) {
        stores.set(each.manifest.id, await databaseOf(each))
      }
    }
    registry = await startPlugins({
      plugins: plugins.map((each) => ({
        plugin: each,
        use: each.manifest.id,
        path: ['plugins'],
        config: undefined,
      })),
      configs: new Map(
        plugins.map((each) => [
          each.manifest.id,
          each === watched ? config : loaded(each.manifest.config, {}, 'config'),
        ]),
      ),
      capabilities: ({ manifest }, log, signal) => ({
        egress: createEgress(undefined, gate),
        outbound: createOutbound(gate),
        database: stores.get(manifest.id) as Database,
        schedule: createSchedule(log, signal),
        files: { directory: () => folder },
        clock: { now: () => new Date() },
        door: createDoor(
          { hostname: '127.0.0.1', publicBaseUrl: undefined, allowedHosts: undefined },
          new AbortController().signal,
        ),
        inspection: emptyGateway,
        runtime: {
          lease: () => ({
            configVersion: 'bench',
            acceptedAt: new Date(),
            guards: undefined,
            modelsOf: () => [],
            release() {},
          }),
        },
        start,
        ...options.capabilities,
      }),
      log: output.log,
      setupDeadlineMs: options.setupDeadlineMs ?? 10_000,
    })
  } catch (thrown) {
    error = thrown
  }
  output.release()

  return {
    provided,
    of: (point) =>
      provided
        .filter((each) => each.point.name === point.name)
        .map(({ implementation }) => implementation as never),
    error,
    undeclared,
    late,
    secrets: secretsIn(config),
    output: output.text,
    async disposeAgain() {
      await disposer?.()
    },
    async dispose() {
      await registry?.dispose()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface Watch {
  asked(name: CapabilityName): void
  provides(point: ExtensionPoint<unknown>, implementation: unknown): void
}

/** The context that the plugin gets, which records what the plugin does with it. */
function watch<C, N extends CapabilityName>(
  context: PluginContext<C, N>,
  { asked, provides }: Watch,
): PluginContext<C, N> {
  const provide: typeof context.provide = (point, implementation) => {
    provides(point, implementation)
    context.provide(point, implementation)
  }
  const target = { ...context, provide }
  return new Proxy(target, {
    get(_, key) {
      if (!(key in target) && (capabilityNames as readonly unknown[]).includes(key)) {
        asked(key as CapabilityName)
      }
      return Reflect.get(target, key)
    },
    set: () => false,
  })
}
