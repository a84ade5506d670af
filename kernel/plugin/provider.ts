import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { Problem } from './config.ts'
import { Shape } from './extension-point.ts'
import type { JsonObject } from './json.ts'
import { type Feature, features, type RouteFlags, type RouteSpec } from './route.ts'
import type { StreamEvent } from './stream.ts'
import type { Dialect } from './surface.ts'

/** One call for the executor of a bound route. */
export interface ProviderCall {
  readonly requestId: string
  /** The caller's body, parsed. Read-only: shared with the request log. Copy before changing. */
  readonly body: JsonObject
  /** The exact text of the caller's body; undefined if the gateway built `body`. */
  readonly rawBody: string | undefined
  readonly stream: boolean
  /** The caller's API. */
  readonly surface: string
  /** The caller's headers that are part of the request in this dialect; see `SurfaceCall`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The dialect of this call. */
  readonly dialect: Dialect
  /** Maximum size of a buffered reply after decompression: `max_response_bytes`. */
  readonly maxResponseBytes: number
  /** W3C trace context to send upstream, if any. */
  readonly traceparent: string | undefined
  /** Aborts when the deadline of the call passes or its result is no longer needed. */
  readonly signal: AbortSignal
  /**
   * Reports a sign of life of the upstream to the watchdog: until the first one `timeouts.total_ms`
   * applies, afterwards `timeouts.idle_ms` since the last one. A call that is not streamed must
   * also end within `timeouts.total_ms`. `Egress.send` calls this.
   */
  alive(): void
  /**
   * Reports the response headers of the upstream: rate limits go to the caller, the request id to
   * the caller and the log. `sent` are headers of the call, whose values are never passed on.
   * `Egress.send` calls this; other clients may.
   */
  answered(headers: Headers, sent?: Readonly<Record<string, string>>): void
  /**
   * Reports a member of the caller's request that was dropped, as a path without indices: `store`,
   * `messages[].content[].cache_control`. The caller and the log get the list.
   */
  dropped(name: string): void
}

export interface BufferedResult {
  readonly kind: 'buffered'
  /** The reply in the dialect, including `usage` in the dialect's spelling. */
  readonly body: JsonObject
  /** The exact text of the upstream, which is passed on with only `model` replaced. */
  readonly rawBody?: string
  /** Additional response headers for the caller. */
  readonly headers?: Readonly<Record<string, string>>
  /** Billing modifiers of the upstream request, such as a service tier. */
  readonly billingModifiers?: readonly string[]
}

export interface StreamResult {
  readonly kind: 'stream'
  /**
   * Events of the dialect, in batches: all that one piece of upstream data completed. The kernel
   * normalises them. Throw GatewayError if the upstream fails midway. Cancelling (`return()` of the
   * iterator, or `call.signal`) must end the upstream call; a batch right after `call.signal` may
   * still report counters.
   */
  readonly events: AsyncIterable<readonly StreamEvent[]>
  /** The caller did not ask for counters: see `StreamOptions`. */
  readonly usageUnasked?: boolean
  readonly billingModifiers?: readonly string[]
}

export type ProviderResult = BufferedResult | StreamResult
export type Execute = (call: ProviderCall) => Promise<ProviderResult>

/** Where to find the price of a route's calls. */
export interface PricingIdentity {
  /** Absent: calls are unpriced, reason `provider_pricing_source_missing`. */
  readonly pricingProviderId: string | undefined
  readonly model: string
  /** Set if this route can never be priced; the reason is one of the ledger's. */
  readonly unpriceable?: UnpricedReason
  /** The cost in its replies is the price of a call. */
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

/** A route with its executors. */
export interface BoundRoute {
  /** Executors by dialect; a dialect without an executor is not supported. */
  readonly execute: Readonly<Partial<Record<string, Execute>>>
  /** Features that the implementation supports on this route. */
  readonly supports: readonly Feature[]
  /** Where callers find a missing feature, as the end of a sentence. */
  readonly instead?: Readonly<Partial<Record<string, string>>>
  /**
   * What its executors of chat read in addition to chat: `cache_control`, `is_error` of a
   * tool result, `tool_images` in one, `reasoning_content` or `provider_metadata` of earlier turns.
   */
  readonly reads?: readonly string[]
  /**
   * Its executors pass on members of the dialect's own API unchanged, such as `user`. Counters in
   * its streams pass as they come; those of other routes are sent at the end.
   */
  readonly compatShape?: boolean
  /** Whether its model accepts `reasoning_effort`, or only without tools. Absent: no. */
  readonly takesEffort?: boolean | 'without_tools'
  readonly pricing: PricingIdentity
}

/** The result of `bind`, with at least one executor. */
export const BoundRouteShape = Type.Object({
  supports: Type.Array(Shape.oneOf(features)),
  pricing: Type.Object({ model: Type.String() }),
  execute: Type.Record(
    Type.String(),
    Type.Union([Shape.method(), Type.Undefined()], { description: 'a function' }),
  ),
})

export interface Provider {
  /** Called once per route, at load. Throws ConfigError for a route that can never work. */
  bind(route: RouteSpec): BoundRoute
  dispose?(): void | Promise<void>
}

/** The fields that all providers have. */
export interface ProviderSettings {
  readonly id: string
  /** To be sent with each call; a route's `extraHeaders` override them. */
  readonly defaultHeaders: Readonly<Record<string, string>>
  readonly pricingProviderId: string | undefined
}

/**
 * A provider type for `providers[].type`, in the manifest of its plugin, so that a config can be
 * checked without running anything.
 */
export interface ProviderTypeSpec<C extends TSchema = TSchema> {
  readonly type: string
  /** Aliases in the config; normalised to `type`. */
  readonly aliases?: readonly string[]
  /** The fields of this type in `providers[]`, as an object schema. */
  readonly config: C
  /** Object schema of `routes[].compatibility` for this type's routes. */
  readonly compatibility: TSchema
  /**
   * Checks of a route that schemas cannot express, such as contradictions. Wrongly typed parts are
   * removed first, so any field may be missing. Problem paths are relative to the route:
   * `['compatibility', 'aggregator']`. `capabilities` is as written in the file: an absent flag is
   * true.
   */
  checkRoute?(route: Readonly<JsonObject>, provider: Readonly<JsonObject>): Iterable<Problem>
  /** As `checkRoute`, for the provider's entry; paths are relative to it. */
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

/** Creates providers of a declared type. Registered at the point `providerFactories`. */
export interface ProviderFactory<C extends TSchema = TSchema> {
  readonly type: string
  create(config: Static<C>, settings: ProviderSettings): Provider | Promise<Provider>
}

/** The result of binding a configured route. */
export interface BoundRouteFacts {
  /** Capabilities that the config allows and the provider supports. */
  readonly capabilities: RouteFlags
  readonly pricing: PricingIdentity
}

/** Called with the routes by id when a config becomes active, at the start and at each reload. */
export interface BoundRouteListener {
  inForce(routes: ReadonlyMap<string, BoundRouteFacts>): void
}
