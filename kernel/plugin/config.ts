import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { ExtensionPoint } from './extension-point.ts'
import type { RouteSpec } from './route.ts'
import type { Secret } from './secret.ts'

/**
 * Where something stands in the config file.
 *
 * @example const path: ConfigPath = ['models', 0, 'routes']
 */
export type ConfigPath = readonly (string | number)[]

/**
 * `models[0].routes[1].provider`; keys that are no plain words are quoted.
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
 * An object of a config, a body or a query: unknown members are refused.
 *
 * @example const config = strictObject({ url: Type.String() })
 */
export function strictObject<T extends Parameters<typeof Type.Object>[0]>(properties: T) {
  return Type.Object(properties, { additionalProperties: false })
}

/**
 * One thing that is wrong, or worth a warning, in the config file.
 *
 * @example yield { path: ['region'], message: 'is no region', hint: 'write eu or us' }
 */
export interface Problem {
  readonly path: ConfigPath
  readonly message: string
  /** What to write instead. */
  readonly hint?: string
  /** A warning does not stop the start. Default `error`. */
  readonly severity?: 'error' | 'warning'
}

/**
 * Thrown by set-up code when the config cannot work.
 *
 * @example throw new ConfigError([{ path: ['region'], message: 'is no region' }])
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
 * A secret reference: `env.NAME`, `file./absolute/path` or `literal.VALUE`. The loader replaces it
 * by a Secret before any plugin sees the config.
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
 * Keyword of an object schema: other names of its keys, each with the key that it becomes at load.
 * They are no properties. Problems are told under the name that was written.
 *
 * @example Type.Object({ api_base: Type.String() }, { [KEY_ALIASES]: { base_url: 'api_base' } })
 */
export const KEY_ALIASES = 'x-key-aliases'

/** Keyword of a text with a pattern: what to write, where the description says what it is for. */
export const WRITE = 'x-write'

/**
 * A money amount or rate in USD: a quoted decimal without sign or exponent.
 *
 * @example const config = strictObject({ limit_usd: DecimalString({ maxPlaces: 6 }) })
 */
export function DecimalString(options: { description?: string; maxPlaces?: number } = {}) {
  const { maxPlaces = 12, ...rest } = options
  return Type.String({ ...rest, pattern: `^(0|[1-9][0-9]{0,11})(\\.[0-9]{1,${maxPlaces}})?$` })
}

/** What plugins declare in their manifests, all together. */
export interface Declared {
  /** A plugin could not be loaded: what nobody here declares may be its own, and is not unknown. */
  readonly partial?: boolean
  /** What is declared at the points of plugins; absent: nothing. `broughtTo` finds it. */
  readonly brought?: readonly Brought<unknown>[]
}

/** What a plugin declares that it brings to another plugin's point. */
export interface Brought<T> {
  readonly point: string
  readonly spec: T
  /** Id of the plugin that declares it. */
  readonly plugin: string
  /** The plugin may be left out (`on_boot_failure: disable`). */
  readonly dispensable: boolean
}

/** What manifests declare at a point, as far as their specs say it. */
export function broughtTo<T, S = T>(
  point: ExtensionPoint<T>,
  { brought = [] }: Declared,
): readonly Brought<S>[] {
  return brought.filter((one) => one.point === point.name) as readonly Brought<S>[]
}

/**
 * A top-level section of the config file, owned by the plugin whose manifest lists it. Of one named
 * `server` the plugin owns the keys, next to those of the kernel.
 *
 * @example const quotas: ConfigSection = configSection('quotas', strictObject({}))
 */
export interface ConfigSection<S extends TSchema = TSchema> {
  readonly name: string
  readonly schema: S
  /** In the place of `schema`, where the section's shape depends on what other plugins declare. */
  schemaFor?(declared: Declared): TSchema
}

/**
 * A section for `sections` of a manifest, and for `section` of a snapshot.
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
  /** Absent: open to every principal with a grant. */
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
  /** Largest buffered reply, in bytes after decompression. */
  readonly maxResponseBytes: number
}

/** One accepted load of the config file. Immutable. */
export interface ConfigSnapshot {
  /** Changes when, and only when, the content of the file changes. */
  readonly version: string
  readonly models: ReadonlyMap<string, ModelSpec>
  readonly providers: ReadonlyMap<string, ProviderSpec>
  /** A section as its schema describes it, defaults filled in and secrets resolved. */
  section<S extends TSchema>(section: ConfigSection<S>): Static<S>
}

/**
 * The config as `PluginManifest.check` sees it: parsed, but with wrongly typed parts cut out, so
 * that every problem can be reported in one go. Any field may be missing; one that was cut out is
 * there as `undefined`.
 */
export interface ConfigDraft {
  /** Ids of all declared models and providers, entries with mistakes included. */
  readonly modelIds: ReadonlySet<string>
  readonly providerIds: ReadonlySet<string>
  /** What the loaded plugins declare in their manifests. */
  readonly declared: Declared
  /** What is left of a top-level section; `undefined` when it is absent or of the wrong type. */
  section(name: string): unknown
}

/** Told of every config, the first one and each reload, before it serves a request. */
export interface SnapshotListener {
  /**
   * Throws ConfigError, or rejects with it, for a config that this listener would refuse. It changes
   * nothing, and every listener is asked before any prepares, so that a refused config leaves no
   * trace. Absent: none is refused but by `prepare`.
   */
  check?(snapshot: ConfigSnapshot): void | Promise<void>
  /**
   * Gets everything ready for a config. Rejecting refuses it. What it resolves to puts the config
   * into force: it is called when all listeners are ready, and must not fail.
   */
  prepare(snapshot: ConfigSnapshot): Promise<() => void>
}

/**
 * The longest that a timer counts, in milliseconds: with more it would be up at once.
 *
 * @example Type.Integer({ minimum: 1, maximum: MAX_TIMER_MS })
 */
export const MAX_TIMER_MS = 2 ** 31 - 1
