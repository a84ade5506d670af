import type {
  ConfigPath,
  ConfigSnapshot,
  JsonObject,
  Plugin,
  Problem,
  ProviderSettings,
  ProviderSpec,
  Secret,
} from '../plugin/index.ts'
import type { RootEntry } from './schema.ts'
import type { Address } from './server-section.ts'

/** A plugin to start, with its place in the config. */
export interface LoadedPlugin {
  readonly plugin: Plugin
  /** Its `use` entry: `builtin:NAME`, a path, `npm:…`. */
  readonly use: string
  /** `['plugins', n]`, or `['plugins']` when the file has no such section. */
  readonly path: ConfigPath
  /** `plugins[].config` as written; `undefined` when absent. */
  readonly config: unknown
  /** Path of its module; absent for a built-in. */
  readonly module?: string
  /** It runs in a separate thread. */
  readonly isolation?: 'worker' | undefined
  /** Absent: `stop`. */
  readonly onBootFailure?: 'stop' | 'disable' | undefined
}

/** The plugins of a config file that could be loaded. */
export interface ResolvedPlugins {
  readonly plugins: readonly LoadedPlugin[]
  readonly problems: readonly Problem[]
  /** False: some plugins could not be loaded, so that unknown keys may belong to them. */
  readonly complete: boolean
}

/** Section `server` with overrides from the environment. */
export type ServerSettings = Omit<RootEntry['server'], 'bind'> & { readonly bind: Address }

export interface LoadedProvider {
  readonly spec: ProviderSpec
  readonly settings: ProviderSettings
  /** The fields of the provider type, checked against its schema. */
  readonly config: Readonly<JsonObject>
}

/** A config without errors: resolved, with defaults, frozen. */
export interface LoadedConfig {
  readonly snapshot: ConfigSnapshot
  readonly server: ServerSettings
  /** Absent: the gateway runs the embedded Postgres. */
  readonly databaseUrl: Secret | undefined
  /** In file order, so that the index matches the config path. */
  readonly providers: readonly LoadedProvider[]
  /** By plugin id. */
  readonly pluginConfigs: ReadonlyMap<string, unknown>
}
