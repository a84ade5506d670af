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

/** Version of this contract; a plugin names the one it was written for. */
export const CONTRACT = 1

/**
 * Undoes a set-up; what `setup` of a plugin returns.
 *
 * @example return () => clearInterval(timer)
 */
export type Disposer = () => void | Promise<void>

export interface Egress {
  /**
   * One HTTP call of an upstream, which ends with the provider call that it is made for. It follows
   * no redirect, asks for an unencoded body, and sends `x-request-id` and `traceparent`. The reply's
   * head and each piece of its body are a sign of life. Throws GatewayError: `upstream_timeout` or
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
   * The whole body; instead of `body`, not after it. Throws as `send` does, and `upstream_transport`
   * when it is larger than `call.maxResponseBytes`.
   */
  bytes(): Promise<Uint8Array>
}

export interface EgressRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A `Blob` that stands for a file is read from disk while it is sent. */
  readonly body?: string | Uint8Array | Blob
}

/**
 * The `sql` tag of a transaction.
 *
 * @example await sql.begin((tx: TransactionSql) => tx`select 1`)
 */
export type { TransactionSql }

/**
 * A plugin's part of the gateway's Postgres.
 *
 * @example const { sql, schema } = ctx.database
 */
export interface Database {
  /** Name of this plugin's own Postgres schema: the id's second part, kind before it unless `plugin`. */
  readonly schema: string
  /** The shared pool. Qualify table names with `schema`. */
  readonly sql: Sql
  /** The same pool under drizzle. */
  readonly drizzle: PostgresJsDatabase
  /**
   * Calls `notified` for each NOTIFY on the channel, and `connected` whenever listening starts or
   * resumes: what was sent in between is lost, so read everything again.
   */
  listen(
    channel: string,
    notified: (payload: string) => void,
    connected: () => void,
  ): Promise<Disposer>
}

export interface Schedule {
  /**
   * Runs `task` every `ms`, from 1 to `MAX_TIMER_MS`, until disposal, never twice at once; a failure is
   * logged. The first run is `ms` from now.
   */
  every(ms: number, task: () => void | Promise<void>): void
}

export interface Files {
  /** A folder of this plugin's own on the local disk, made when first asked for. */
  directory(): string
}

/**
 * The time, which tests can set.
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
  /** The config of the start; `snapshotListeners` are told of later ones. */
  readonly config: ConfigSnapshot
  /** False: the plugins run for one command, and no request comes. */
  readonly serves: boolean
}

/**
 * What a plugin may ask for in `needs`.
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
 * A name that `needs` of a manifest may have.
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
 * What a plugin is: read before any of its code runs.
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
  /** Top-level sections of the config file that this plugin owns; the keys of one named `server` join the kernel's. */
  readonly sections?: readonly ConfigSection[]
  /** Provider types that the config may name; `setup` provides a factory for each. */
  readonly providerTypes?: readonly ProviderTypeSpec[]
  /** Wire formats that it brings; each is a flag of routes, and `setup` provides each of them. */
  readonly dialects?: readonly string[]
  /** What `setup` provides at points of other plugins that want it declared. */
  readonly declares?: readonly Declaration[]
  /** Sub-commands of `gateway`; `setup` provides what each of them does. */
  readonly commands?: readonly CommandSpec[]
  /** What is not named here is absent from the context. */
  readonly needs: readonly N[]
  /** Set up, with what it requires, before all plugins that do not say so, and disposed after them. */
  readonly early?: boolean
  /**
   * Points whose implementations the plugin calls; `setup` is handed a function for each. A point for
   * one has to be provided by a loaded plugin, or the config is refused, unless it is `optional`.
   */
  readonly uses?: U
  /** Points for one that `setup` provides an implementation of. */
  readonly provides?: readonly ExtensionPoint<unknown, 'one'>[]
  /** Ids of plugins that are set up earlier; load order only. */
  readonly after?: readonly string[]
  /** Ids of plugins without which this one cannot work; they are set up earlier. */
  readonly requires?: readonly string[]
  readonly migrations?: readonly Migration[]
  /** What `defineErrors` made for it. */
  readonly errors?: Readonly<Record<string, ErrorKind>>
  /**
   * It runs other plugins apart from the gateway (`isolation: worker`), is set up before them, and
   * provides `isolation`. What keeps a plugin from being run so; paths are relative to the `isolation`
   * of its entry. Pure.
   */
  isolates?(manifest: PluginManifest<TSchema, CapabilityName>): Iterable<Problem>
  /** What the schemas cannot say about the plugin's sections. Pure. */
  check?(draft: ConfigDraft): Iterable<Problem>
}

export interface BaseContext<C, U extends Uses = Uses> {
  readonly config: C
  /**
   * The implementations behind the points of `uses`. Call these functions once all plugins are set up:
   * set-up goes in one order, and plugins use each other in both directions.
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
 * What `setup` is given: the config, the log, and the capabilities that it needs.
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
   * Of a built-in plugin: the modules that other plugins import to work with it, by name, such as
   * `model-gateway/admin`. They can be imported whether or not the plugin is loaded.
   */
  readonly contracts?: Readonly<Record<string, object>>
  // biome-ignore lint/suspicious/noConfusingVoidType: a setup without a disposer returns nothing
  setup(ctx: PluginContext<Static<C>, N, U>): void | Disposer | Promise<void | Disposer>
}

/** A plugin that is to run apart from the gateway. */
export interface IsolatedPlugin {
  readonly manifest: Plugin['manifest']
  /** `builtin:NAME`, or where the plugin's module is. */
  readonly module: string
}

/** Runs plugins apart from the gateway. Registered at the point `isolation`. */
export interface Isolation {
  /** Called in the place of the plugin's own set-up, with what that would be called with. */
  setup(plugin: IsolatedPlugin, context: BaseContext<unknown>): Promise<Disposer>
}

/**
 * Types a plugin where it is written; returns it as it is.
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
