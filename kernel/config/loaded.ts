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

/** A plugin that is to be started, with the place in the config that names it. */
export interface LoadedPlugin {
  readonly plugin: Plugin
  /** What names it: `builtin:NAME`, a path, `npm:…`. */
  readonly use: string
  /** `['plugins', n]`, or `['plugins']` when the file has no such section. */
  readonly path: ConfigPath
  /** `plugins[].config` as written; `undefined` when absent. */
  readonly config: unknown
  /** Where its module lies; absent for a built-in. */
  readonly module?: string
  /** It runs in a thread of its own. */
  readonly isolation?: 'worker' | undefined
  /** Absent: `stop`. */
  readonly onBootFailure?: 'stop' | 'disable' | undefined
}

/** The plugins of a config file, as far as they could be loaded. */
export interface ResolvedPlugins {
  readonly plugins: readonly LoadedPlugin[]
  readonly problems: readonly Problem[]
  /** False: some could not be loaded, so that not everything in the file can be judged. */
  readonly complete: boolean
}

/** Section `server`, with the environment's overrides. */
export type ServerSettings = Omit<RootEntry['server'], 'bind'> & { readonly bind: Address }

export interface LoadedProvider {
  readonly spec: ProviderSpec
  readonly settings: ProviderSettings
  /** The type's own fields, in the shape of its schema. */
  readonly config: Readonly<JsonObject>
}

/** A config without errors: everything resolved, filled in and frozen. */
export interface LoadedConfig {
  readonly snapshot: ConfigSnapshot
  readonly server: ServerSettings
  /** Absent: the gateway runs a Postgres of its own. */
  readonly databaseUrl: Secret | undefined
  /** In the order of the file, so that the index is that of the config path. */
  readonly providers: readonly LoadedProvider[]
  /** By plugin id. */
  readonly pluginConfigs: ReadonlyMap<string, unknown>
}
