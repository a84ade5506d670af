import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { ExtensionPoint } from './extension-point.ts'
import type { RouteSpec } from './route.ts'
import type { Secret } from './secret.ts'

/**
 * A place in the config file.
 *
 * @example const path: ConfigPath = ['models', 0, 'routes']
 */
export type ConfigPath = readonly (string | number)[]

/**
 * Formats a path as `models[0].routes[1].provider`; unusual keys are quoted.
 *
 * @example formatPath(['models', 0, 'id']) // models[0].id
 */
export function formatPath(path: ConfigPath): string {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`
    else if (!/^[\w-]+$/.test(part)) text += `[${JSON.stringify(part)}]`
    else text += text === '' ? part : `.${part}`
  }
  return text
}

/**
 * The schema of an object in a config, body or query; refuses unknown members.
 *
 * @example const config = strictObject({ url: Type.String() })
 */
export function strictObject<T extends Parameters<typeof Type.Object>[0]>(properties: T) {
  return Type.Object(properties, { additionalProperties: false })
}

/**
 * An error or warning about the config file.
 *
 * @example yield { path: ['region'], message: 'is not a region', hint: 'write eu or us' }
 */
export interface Problem {
  readonly path: ConfigPath
  readonly message: string
  /** How to fix it. */
  readonly hint?: string
  /** A warning does not stop the start. Default `error`. */
  readonly severity?: 'error' | 'warning'
}

/**
 * Thrown by set-up code for a config that cannot work.
 *
 * @example throw new ConfigError([{ path: ['region'], message: 'is not a region' }])
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly Problem[]
  constructor(problems: readonly Problem[]) {
    super(problems.map((p) => `${formatPath(p.path)}: ${p.message}`).join('\n'))
    this.problems = problems
  }
}

export const SECRET_KEYWORD = 'x-secret'

/**
 * The schema of a secret reference: `env.NAME`, `file./absolute/path` or `literal.VALUE`. The
 * loader replaces it by a Secret before any plugin sees the config.
 *
 * @example
 * const config = strictObject({
 *   token: SecretRef({ description: 'The key of the account' }),
 * })
 */
export function SecretRef(options: { description?: string } = {}) {
  return Type.Unsafe<Secret>({ ...options, type: 'string', [SECRET_KEYWORD]: true })
}

/**
 * Keyword of an object schema: aliases of its keys, each with the key that it becomes at load.
 * Aliases are not properties. Problems name the alias that was written.
 *
 * @example Type.Object({ api_base: Type.String() }, { [KEY_ALIASES]: { base_url: 'api_base' } })
 */
export const KEY_ALIASES = 'x-key-aliases'

/** Keyword of a string with a pattern: how to write it, if the description says what it is for. */
export const WRITE = 'x-write'

/**
 * The schema of an amount or rate in USD: a quoted decimal without sign or exponent.
 *
 * @example const config = strictObject({ limit_usd: DecimalString({ maxPlaces: 6 }) })
 */
export function DecimalString(options: { description?: string; maxPlaces?: number } = {}) {
  const { maxPlaces = 12, ...rest } = options
  return Type.String({ ...rest, pattern: `^(0|[1-9][0-9]{0,11})(\\.[0-9]{1,${maxPlaces}})?$` })
}

/** All that the loaded plugins declare in their manifests. */
export interface Declared {
  /** Some plugin could not be loaded, so undeclared names are not reported as unknown. */
  readonly partial?: boolean
  /** Declarations at the points of plugins; read them with `broughtTo`. */
  readonly brought?: readonly Brought<unknown>[]
}

/** A declaration at another plugin's point. */
export interface Brought<T> {
  readonly point: string
  readonly spec: T
  /** Id of the plugin that declares it. */
  readonly plugin: string
  /** The plugin is optional (`on_boot_failure: disable`). */
  readonly dispensable: boolean
}

/** The specs that manifests declare at a point. */
export function broughtTo<T, S = T>(
  point: ExtensionPoint<T>,
  { brought = [] }: Declared,
): readonly Brought<S>[] {
  return brought.filter((one) => one.point === point.name) as readonly Brought<S>[]
}

/**
 * A top-level section of the config file, owned by the plugin whose manifest lists it. In a section
 * named `server` the plugin owns only its keys.
 *
 * @example const quotas: ConfigSection = configSection('quotas', strictObject({}))
 */
export interface ConfigSection<S extends TSchema = TSchema> {
  readonly name: string
  readonly schema: S
  /** Instead of `schema`, if the schema depends on what other plugins declare. */
  schemaFor?(declared: Declared): TSchema
}

/**
 * Defines a section for `sections` of a manifest and for `section` of a snapshot.
 *
 * @example const quotas = configSection('quotas', strictObject({ daily: Type.Integer() }))
 */
export function configSection<S extends TSchema>(name: string, schema: S): ConfigSection<S> {
  return { name, schema }
}

/** A model of the config, with its routes. */
export interface ModelSpec {
  readonly id: string
  readonly description: string | undefined
  readonly tags: readonly string[]
  readonly rank: number
  readonly aliasOf: string | undefined
  /** Absent: all principals with a grant may use it. */
  readonly allowlist:
    | { readonly users: readonly string[]; readonly teams: readonly string[] }
    | undefined
  readonly routes: readonly RouteSpec[]
}

export interface ProviderSpec {
  readonly id: string
  readonly type: string
  readonly pricingProviderId: string | undefined
  readonly timeouts: { readonly totalMs: number; readonly idleMs: number }
  /** Maximum size of a buffered reply, in bytes after decompression. */
  readonly maxResponseBytes: number
}

/** One accepted version of the config file. Immutable. */
export interface ConfigSnapshot {
  /** Changes only with the content of the file. */
  readonly version: string
  readonly models: ReadonlyMap<string, ModelSpec>
  readonly providers: ReadonlyMap<string, ProviderSpec>
  /** Returns a section with defaults filled in and secrets resolved. */
  section<S extends TSchema>(section: ConfigSection<S>): Static<S>
}

/**
 * The config for `PluginManifest.check`: wrongly typed parts are removed, so that all problems can
 * be reported at once. Any field may be missing; a removed one is present as `undefined`.
 */
export interface ConfigDraft {
  /** Ids of all models and providers, including entries with errors. */
  readonly modelIds: ReadonlySet<string>
  readonly providerIds: ReadonlySet<string>
  /** What the loaded plugins declare in their manifests. */
  readonly declared: Declared
  /** What remains of a top-level section; undefined if absent or of the wrong type. */
  section(name: string): unknown
}

/** Called for each config, at the start and at each reload, before it serves a request. */
export interface SnapshotListener {
  /**
   * Throws ConfigError, or rejects with it, to refuse a config. Must change nothing: all listeners
   * are asked before any prepares, so that a refused config leaves no trace. Absent: only `prepare`
   * can refuse.
   */
  check?(snapshot: ConfigSnapshot): void | Promise<void>
  /**
   * Prepares for a config; rejecting refuses it. Resolves to a function that activates the config.
   * It is called once all listeners are ready and must not fail.
   */
  prepare(snapshot: ConfigSnapshot): Promise<() => void>
}

/**
 * The maximum delay of a timer in milliseconds; a longer one would fire at once.
 *
 * @example Type.Integer({ minimum: 1, maximum: MAX_TIMER_MS })
 */
export const MAX_TIMER_MS = 2 ** 31 - 1
