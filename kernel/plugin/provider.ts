import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { Problem } from './config.ts'
import { Shape } from './extension-point.ts'
import type { JsonObject } from './json.ts'
import { type Feature, features, type RouteFlags, type RouteSpec } from './route.ts'
import type { StreamEvent } from './stream.ts'
import type { Dialect } from './surface.ts'

/** One call of an upstream, handed to the executor of a bound route. */
export interface ProviderCall {
  readonly requestId: string
  /** The caller's body, parsed. Frozen in spirit: build a new object, never change this one. */
  readonly body: JsonObject
  /** The caller's body, byte for byte as text; `undefined` when the gateway built `body` itself. */
  readonly rawBody: string | undefined
  readonly stream: boolean
  /** The API in which the caller speaks. */
  readonly surface: string
  /** What of the caller's headers is part of the request in this dialect; see `SurfaceCall`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The dialect that the executor is called in. */
  readonly dialect: Dialect
  /** Largest buffered reply, in bytes after decompression: `max_response_bytes` of the provider. */
  readonly maxResponseBytes: number
  /** W3C trace context to send on, when there is one. */
  readonly traceparent: string | undefined
  /** Aborts when the call's deadline passes or nobody waits for it any more. */
  readonly signal: AbortSignal
  /**
   * Tells the kernel's watchdog that the upstream lives: until the first call of it
   * `timeouts.total_ms` counts, afterwards `timeouts.idle_ms` since the last one. A call that is
   * not streamed must also end within `timeouts.total_ms`.
   * `Egress.send` does this for its caller.
   */
  alive(): void
  /**
   * Tells what the headers of the upstream's reply say: its limits are passed on to the caller, its
   * request id too, and to the log. `sent` are headers of the call, which are never repeated.
   * `Egress.send` does this for its caller; who calls an upstream in another way may.
   */
  answered(headers: Headers, sent?: Readonly<Record<string, string>>): void
  /**
   * Tells of a member of the caller's request that is left out on the way to the upstream, as a path
   * without indices: `store`, `messages[].content[].cache_control`. The caller and the log are told.
   */
  dropped(name: string): void
}

export interface BufferedResult {
  readonly kind: 'buffered'
  /** The reply in the shape of the dialect, `usage` in it as the dialect spells it. */
  readonly body: JsonObject
  /** The same as the upstream sent it; then it is passed on with only `model` replaced. */
  readonly rawBody?: string
  /** What the caller is told beside it, as headers. */
  readonly headers?: Readonly<Record<string, string>>
  /** Billing modifiers in the outbound body, such as a service tier. */
  readonly billingModifiers?: readonly string[]
}

export interface StreamResult {
  readonly kind: 'stream'
  /**
   * Events in the shape of the family, in batches: all that one piece of upstream data completed.
   * The kernel normalises them. Throw GatewayError where the upstream fails on the way. Cancelling
   * (`return()` of the iterator, or `call.signal`) must end the upstream call; a batch that comes
   * right after `call.signal` can still tell what was counted.
   */
  readonly events: AsyncIterable<readonly StreamEvent[]>
  /** The caller did not ask for counters: see `StreamOptions`. */
  readonly usageUnasked?: boolean
  readonly billingModifiers?: readonly string[]
}

export type ProviderResult = BufferedResult | StreamResult
export type Execute = (call: ProviderCall) => Promise<ProviderResult>

/** Where the price of a route's calls is found. */
export interface PricingIdentity {
  /** Absent: calls are unpriced, reason `provider_pricing_source_missing`. */
  readonly pricingProviderId: string | undefined
  readonly model: string
  /** Set when this route can never be priced; the reason is one of the ledger's. */
  readonly unpriceable?: UnpricedReason
  /** What its replies state as their cost is the price of a call. */
  readonly billsStatedCost?: boolean
}

export type UnpricedReason =
  | 'provider_pricing_source_missing'
  | 'unsupported_pricing_provider_id'
  | 'unsupported_publisher'
  | 'unsupported_location'
  | 'unsupported_billing_modifier'
  | 'model_not_found'
  | 'missing_input_rate'
  | 'missing_output_rate'
  | 'missing_cache_read_rate'
  | 'missing_cache_write_rate'
  | 'unsupported_context_tier'
  | 'mixed_cache_write_ttl'

/** A route made executable. */
export interface BoundRoute {
  /** By dialect; one without an executor is a capability that is not there. */
  readonly execute: Readonly<Partial<Record<string, Execute>>>
  /** What else the implementation can serve on this route. */
  readonly supports: readonly Feature[]
  /** Where a caller finds a feature that this route does not have, as the end of a sentence. */
  readonly instead?: Readonly<Partial<Record<string, string>>>
  /**
   * What its executors of chat read beside what that has: `cache_control`, `is_error` of a tool's result,
   * `tool_images` in one, `reasoning_content` or `provider_metadata` of earlier turns.
   */
  readonly reads?: readonly string[]
  /**
   * Its executors send on what the dialect's own API has, as it stands: `user`, for one. Counters in
   * its streams pass as they come; those of other routes are told at the end.
   */
  readonly compatShape?: boolean
  /** Whether its model takes `reasoning_effort`, or only where no tools are offered. Absent: no. */
  readonly takesEffort?: boolean | 'without_tools'
  readonly pricing: PricingIdentity
}

/** What `bind` returns, with at least one executor. */
export const BoundRouteShape = Type.Object({
  supports: Type.Array(Shape.oneOf(features)),
  pricing: Type.Object({ model: Type.String() }),
  execute: Type.Record(
    Type.String(),
    Type.Union([Shape.method(), Type.Undefined()], { description: 'a function' }),
  ),
})

export interface Provider {
  /** Throws ConfigError for a route that can never work. Called once a route, at load. */
  bind(route: RouteSpec): BoundRoute
  dispose?(): void | Promise<void>
}

/** The fields that every configured provider has, whatever its type. */
export interface ProviderSettings {
  readonly id: string
  /** For the provider to send with every call; a route's `extraHeaders` go over them. */
  readonly defaultHeaders: Readonly<Record<string, string>>
  readonly pricingProviderId: string | undefined
}

/**
 * A kind of provider that config can name in `providers[].type`, as far as a config can be checked
 * against it without running anything. It stands in the plugin's manifest.
 */
export interface ProviderTypeSpec<C extends TSchema = TSchema> {
  readonly type: string
  /** Other spellings in the config; normalised to `type`. */
  readonly aliases?: readonly string[]
  /** The type's own fields of `providers[]`, as an object schema. */
  readonly config: C
  /** Object schema of `routes[].compatibility` for this type's routes. */
  readonly compatibility: TSchema
  /**
   * What the schemas cannot say about one route: combinations, contradictions. It sees a config
   * whose wrongly typed parts are cut out, so any field may be missing. Problem paths are relative
   * to the route: `['compatibility', 'aggregator']`. Of `capabilities` it sees what the file states:
   * a flag that is left out is absent, and true.
   */
  checkRoute?(route: Readonly<JsonObject>, provider: Readonly<JsonObject>): Iterable<Problem>
  /** As `checkRoute`, for the provider's own entry; paths are relative to it. */
  checkProvider?(provider: Readonly<JsonObject>): Iterable<Problem>
}

export const ProviderTypeSpecShape = Type.Object({
  type: Shape.text(),
  aliases: Type.Optional(Type.Array(Shape.text())),
  config: Shape.objectSchema(),
  compatibility: Shape.schema(),
  checkRoute: Type.Optional(Shape.method()),
  checkProvider: Type.Optional(Shape.method()),
})

/** Makes instances of a declared provider type. Registered at the point `providerFactories`. */
export interface ProviderFactory<C extends TSchema = TSchema> {
  readonly type: string
  create(config: Static<C>, settings: ProviderSettings): Provider | Promise<Provider>
}

/** What became of a configured route when its provider bound it. */
export interface BoundRouteFacts {
  /** What the config allows and the provider can do. */
  readonly capabilities: RouteFlags
  readonly pricing: PricingIdentity
}

/** Told of the routes by id, of the first config and of each reload, as they come into force. */
export interface BoundRouteListener {
  inForce(routes: ReadonlyMap<string, BoundRouteFacts>): void
}
