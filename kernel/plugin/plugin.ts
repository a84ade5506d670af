import type { Meter, Tracer } from '@opentelemetry/api'
import type { Static, TSchema } from '@sinclair/typebox'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import type { Logger } from 'pino'
import type { Sql, TransactionSql } from 'postgres'
import type { CommandSpec } from './command.ts'
import type { ConfigDraft, ConfigSection, ConfigSnapshot, Problem } from './config.ts'
import type { ErrorKind } from './errors.ts'
import type { Declaration, ExtensionPoint, Used, Uses } from './extension-point.ts'
import type { Door } from './http.ts'
import type { Inspection } from './inspection.ts'
import type { Outbound } from './outbound.ts'
import type { ProviderCall, ProviderTypeSpec } from './provider.ts'
import type { ConfigInForce } from './runtime.ts'

/** Version of this contract; plugins name the version that they were written for. */
export const CONTRACT = 1

/**
 * Undoes a set-up; returned by `setup` of a plugin.
 *
 * @example return () => clearInterval(timer)
 */
export type Disposer = () => void | Promise<void>

export interface Egress {
  /**
   * Makes one HTTP call of an upstream, which ends with its provider call. Follows no redirect,
   * asks for an unencoded body, and sends `x-request-id` and `traceparent`. The response headers
   * and each piece of the body are signs of life. Throws GatewayError `upstream_timeout` or
   * `upstream_transport`.
   */
  send(call: ProviderCall, url: string, init: EgressRequest): Promise<EgressResponse>
}

export interface EgressResponse {
  readonly status: number
  readonly headers: Headers
  /** The body in pieces as they arrive. Throws as `send` does. Returning early drops the rest. */
  readonly body: AsyncIterable<Uint8Array>
  /**
   * Reads the whole body; use it instead of `body`, not after it. Throws as `send` does, and
   * `upstream_transport` if the body is larger than `call.maxResponseBytes`.
   */
  bytes(): Promise<Uint8Array>
}

export interface EgressRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A `Blob` of a file is read from disk while it is sent. */
  readonly body?: string | Uint8Array | Blob
}

/**
 * The `sql` tag of a transaction.
 *
 * @example await sql.begin((tx: TransactionSql) => tx`select 1`)
 */
export type { TransactionSql }

/**
 * Access to a plugin's part of the gateway's Postgres.
 *
 * @example const { sql, schema } = ctx.database
 */
export interface Database {
  /** This plugin's Postgres schema: second part of the id, with its kind unless `plugin`. */
  readonly schema: string
  /** The shared pool. Qualify table names with `schema`. */
  readonly sql: Sql
  /** The same pool for drizzle. */
  readonly drizzle: PostgresJsDatabase
  /**
   * Calls `notified` for each NOTIFY on the channel, and `connected` each time listening starts or
   * resumes: notifications in between are lost, so read everything again.
   */
  listen(
    channel: string,
    notified: (payload: string) => void,
    connected: () => void,
  ): Promise<Disposer>
}

export interface Schedule {
  /**
   * Runs `task` every `ms` (1 to `MAX_TIMER_MS`) until disposal, never in parallel; failures are
   * logged. The first run is after `ms`.
   */
  every(ms: number, task: () => void | Promise<void>): void
}

export interface Files {
  /** A local folder for this plugin, created on first use. */
  directory(): string
}

/**
 * The current time, which tests can set.
 *
 * @example const since = ctx.clock.now().getTime() - 3_600_000
 */
export interface Clock {
  now(): Date
}

/** How the gateway was started. */
export interface Start {
  /** The gateway's version. */
  readonly version: string
  /** The config at the start; `snapshotListeners` receive later ones. */
  readonly config: ConfigSnapshot
  /** False: the plugins run for one command and serve no requests. */
  readonly serves: boolean
}

/**
 * The capabilities that a plugin may list in `needs`.
 *
 * @example type Needs = Pick<Capabilities, 'database' | 'clock'>
 */
export interface Capabilities {
  egress: Egress
  outbound: Outbound
  database: Database
  schedule: Schedule
  files: Files
  clock: Clock
  door: Door
  inspection: Inspection
  runtime: ConfigInForce
  start: Start
}
/**
 * A name of a capability for `needs` of a manifest.
 *
 * @example const needs: CapabilityName[] = ['database', 'clock']
 */
export type CapabilityName = keyof Capabilities
export const capabilityNames = [
  'egress',
  'outbound',
  'database',
  'schedule',
  'files',
  'clock',
  'door',
  'inspection',
  'runtime',
  'start',
] as const satisfies readonly CapabilityName[]

export interface Migration {
  /** `NNNN_name`, applied in this order, once, and never changed afterwards. */
  readonly name: string
  readonly sql: string
}

/**
 * Describes a plugin; read before any of its code runs.
 *
 * @example
 * const manifest: PluginManifest<TSchema, 'clock'> = {
 *   id: 'plugin.quota',
 *   version: '1.0.0',
 *   contract: 1,
 *   summary: 'Quotas.',
 *   config: strictObject({}),
 *   needs: ['clock'],
 * }
 */
export interface PluginManifest<
  C extends TSchema,
  N extends CapabilityName,
  U extends Uses = Uses,
> {
  /** Kind and name: `provider.my-wire`. */
  readonly id: `${string}.${string}`
  readonly version: string
  readonly contract: typeof CONTRACT
  readonly summary: string
  /** Schema of `plugins[].config`; unknown keys are refused. */
  readonly config: C
  /** Top-level sections that this plugin owns; keys of one named `server` join the kernel's. */
  readonly sections?: readonly ConfigSection[]
  /** Provider types that the config may name; `setup` provides a factory for each. */
  readonly providerTypes?: readonly ProviderTypeSpec[]
  /** Dialects that it brings; each is a capability flag of routes, and `setup` provides each. */
  readonly dialects?: readonly string[]
  /** Implementations at points of other plugins that must be declared; `setup` provides them. */
  readonly declares?: readonly Declaration[]
  /** Subcommands of `gateway`; `setup` provides their implementations. */
  readonly commands?: readonly CommandSpec[]
  /** Capabilities that it uses; others are absent from the context. */
  readonly needs: readonly N[]
  /** Set up before plugins that are not early, with what it requires, and disposed after them. */
  readonly early?: boolean
  /**
   * Points whose implementations the plugin calls; `setup` receives a function for each. A point
   * with one implementation must be provided by a loaded plugin unless it is `optional`; otherwise
   * the config is refused.
   */
  readonly uses?: U
  /** Points with one implementation that `setup` provides. */
  readonly provides?: readonly ExtensionPoint<unknown, 'one'>[]
  /** Ids of plugins to set up earlier; affects the order only. */
  readonly after?: readonly string[]
  /** Ids of plugins that this one needs; they are set up earlier. */
  readonly requires?: readonly string[]
  readonly migrations?: readonly Migration[]
  /** What `defineErrors` made for it. */
  readonly errors?: Readonly<Record<string, ErrorKind>>
  /**
   * Set if it isolates other plugins (`isolation: worker`) and provides `isolation`; it is set up
   * before them. Returns problems of plugins that it cannot isolate; paths are relative to the
   * `isolation` of their entry. Pure.
   */
  isolates?(manifest: PluginManifest<TSchema, CapabilityName>): Iterable<Problem>
  /** Checks of the plugin's sections that schemas cannot express. Pure. */
  check?(draft: ConfigDraft): Iterable<Problem>
}

export interface BaseContext<C, U extends Uses = Uses> {
  readonly config: C
  /**
   * The implementations of the points in `uses`. Call these functions only after all plugins are
   * set up, because plugins may use each other in both directions.
   */
  readonly uses: Used<U>
  readonly log: Logger
  readonly meter: Meter
  readonly tracer: Tracer
  /** Aborts when the plugin is being disposed. */
  readonly signal: AbortSignal
  /** Registers an implementation; possible until `setup` returns. */
  provide<T>(point: ExtensionPoint<T>, implementation: T): void
}

/**
 * The argument of `setup`: the config, the log, and the needed capabilities.
 *
 * @example function setup(ctx: PluginContext<Config, 'database'>) {}
 */
export type PluginContext<C, N extends CapabilityName, U extends Uses = Uses> = BaseContext<C, U> &
  Readonly<Pick<Capabilities, N>>

/**
 * The default export of a plugin's module.
 *
 * @example export const plugins: readonly Plugin[] = [quota]
 */
export interface Plugin<
  C extends TSchema = TSchema,
  N extends CapabilityName = CapabilityName,
  U extends Uses = Uses,
> {
  readonly manifest: PluginManifest<C, N, U>
  /**
   * For built-in plugins: modules that other plugins import to work with it, by name, such as
   * `model-gateway/admin`. They can be imported even if the plugin is not loaded.
   */
  readonly contracts?: Readonly<Record<string, object>>
  // biome-ignore lint/suspicious/noConfusingVoidType: a setup without a disposer returns nothing
  setup(ctx: PluginContext<Static<C>, N, U>): void | Disposer | Promise<void | Disposer>
}

/** A plugin to isolate. */
export interface IsolatedPlugin {
  readonly manifest: Plugin['manifest']
  /** `builtin:NAME`, or the path of the plugin's module. */
  readonly module: string
}

/** Isolates plugins. Registered at the point `isolation`. */
export interface Isolation {
  /** Called instead of the plugin's `setup`, with the same context. */
  setup(plugin: IsolatedPlugin, context: BaseContext<unknown>): Promise<Disposer>
}

/**
 * Returns the plugin unchanged; gives it its type.
 *
 * @example
 * export default definePlugin({
 *   manifest,
 *   setup: (ctx) => ctx.provide(quota, createQuota(ctx.config)),
 * })
 */
export function definePlugin<
  C extends TSchema,
  const N extends CapabilityName = never,
  const U extends Uses = Record<never, never>,
>(plugin: Plugin<C, N, U>): Plugin<C, N, U> {
  return plugin
}
