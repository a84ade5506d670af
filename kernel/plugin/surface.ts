import type { Ties } from './affinity.ts'
import type { GuardedToolCall } from './guardrail.ts'
import type { HttpCall } from './http.ts'
import type { JsonObject, JsonValue } from './json.ts'
import type { BoundRoute, BufferedResult } from './provider.ts'
import type { Feature, RouteSpec } from './route.ts'
import type { StreamEvent } from './stream.ts'
import type { Usage } from './usage.ts'

/** A request for a surface: parsed JSON under the size limit. */
export interface SurfaceRequest {
  /** A surface may correct it; the result is logged. */
  readonly json: JsonValue
  /** The exact text. */
  readonly rawBody: string
  /** `null` if absent. */
  header(name: string): string | null
}

/** What the gateway needs from a request; surfaces add what conversions need. */
export interface SurfaceCall {
  /** The model, alias or tag selector. */
  readonly model: string
  readonly stream: boolean
  /** Features that a route needs in addition to the operation. */
  readonly features: readonly Feature[]
  /** Number of offered tools; undefined if the API has none. */
  readonly exposedToolCount: number | undefined
  /** Headers that are part of the request in its dialect, for its executors; lower case. */
  readonly headers?: Readonly<Record<string, string>>
}

/** An error as reported to a caller. */
export interface CallError {
  readonly code: string
  readonly message: string
  /** Absent if an upstream's stream did not include it. */
  readonly type?: string | undefined
  /** Absent for errors in an upstream's stream. */
  readonly status?: number
  /** The invalid member of the request. */
  readonly param?: string | undefined
  /** The gateway's code; set for all upstream errors. */
  readonly gatewayCode?: string
  /** Set when the prompt does not fit the model. */
  readonly overflow?: ContextOverflow | undefined
  readonly details?: JsonObject
  /** The number of the error event, in streams with numbered events. */
  readonly number?: number | undefined
}

/** Sizes of a prompt that is too long: it has `tokens`, and the model accepts `limit`. */
export interface ContextOverflow {
  readonly tokens?: number | undefined
  readonly limit?: number | undefined
}

/** An error in the format of a surface. */
export interface WireError {
  readonly body: JsonObject
  /** The event that ends a failed stream, as SSE text. */
  readonly event: string
  /** Additional headers of a buffered error reply. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Converts requests and replies of a surface that are not JSON bodies on a fixed path: a model in
 * the path, a form with a file, sound as a reply.
 */
export interface SurfaceDoor {
  /**
   * Returns the JSON text of a request, after its key was checked. Must keep the limits of the
   * server, as `HttpCall.text` does. Throws GatewayError.
   */
  read(call: HttpCall): Promise<string>
  /** Converts the reply or error, with its status and headers. */
  write?(reply: Response, call: HttpCall): Response | Promise<Response>
}

/**
 * A public API: its paths, how requests are read, and the format of errors. Registered at the point
 * `surfaces`. Replies are written by the dialect, or by the conversion from it.
 */
export interface Surface<Call extends SurfaceCall = SurfaceCall> {
  /** Used in logs and in `appliesTo` of middlewares. */
  readonly id: string
  /**
   * Paths for `POST` requests. Those below `/v1` are also served without it and with two; unknown
   * paths below them get its error format. `/v1/things/*` matches all paths below; its `door` gets
   * the rest as `params['*']`.
   */
  readonly paths: readonly string[]
  readonly door?: SurfaceDoor
  /** Headers for keys, next to `Authorization`. Default: `x-api-key`, `x-gateway-api-key`. */
  readonly keyHeaders?: readonly string[]
  /** The wire format of its callers. */
  readonly dialect: string
  /** The flag that a route needs, and the operation in ledger and log. */
  readonly operation: string
  /** Another flag that a route needs. */
  readonly capability?: string
  /** False: its calls are free, without budgets and ledger rows. */
  readonly priced?: boolean
  /**
   * Synchronous. Throws GatewayError `invalid_request`, which names the field; anything else that
   * it throws, and an invalid result, is a fault of the surface: the caller gets a 500.
   */
  read(request: SurfaceRequest): Call
  /** Absent: `{error: {message, type, code, gateway_code, param, request_id}}`. */
  error?(error: CallError, requestId: string): WireError
  /** Called if a model has several routes; absent: requests are independent. */
  ties?(request: JsonObject): Ties
  /** SSE text that keeps a silent stream open. Absent: a comment. */
  readonly keepAlive?: string
  /** Headers of each reply, in addition to `x-request-id`. */
  headers?(requestId: string): Readonly<Record<string, string>>
}

/** What a buffered reply says about the call. */
export interface ReplyFacts {
  readonly usage: Usage | undefined
  /** Undefined if the API has no tool calls. */
  readonly invokedToolCount: number | undefined
  /** Set if a well-formed reply reports that the call failed. */
  readonly failure?: StreamFailure
}

export interface StreamFailure {
  /** The upstream's code of an error in the stream, else `upstream_transport`. */
  readonly code: string
  /** The upstream's type and parameter. */
  readonly type?: string | undefined
  readonly param?: string | undefined
  readonly message: string
  /** The events already include the upstream's error event: send no other. */
  readonly forwarded: boolean
}

/**
 * Normalises the events of one upstream stream: a state machine without I/O. Once `outcome` is not
 * `open`, further input is ignored.
 */
export interface DialectStream {
  /** Returns what to send now; unchanged events are passed on as the same objects. */
  push(batch: readonly StreamEvent[]): StreamEvent[]
  /** Call when the upstream ended without an error; afterwards `outcome` is not `open`. */
  end(): void
  readonly outcome: 'open' | 'complete' | 'failed'
  /** The events that close a complete stream; sent after settlement. */
  readonly terminal: readonly StreamEvent[]
  /** Set if the outcome is `failed`, or will be after one more event of the upstream. */
  readonly failure: StreamFailure | undefined
  /** The latest consistent usage. */
  readonly usage: Usage | undefined
  /** Number of tool calls so far. */
  readonly invokedToolCount: number
  /** The number of the next event, in dialects with numbered events. */
  readonly nextNumber?: number | undefined
}

export interface StreamOptions {
  /** The requested model; it replaces the upstream's name everywhere. */
  readonly publicModel: string
  /** The upstream speaks the dialect itself, so its deviations pass: see `compatShape`. */
  readonly native: boolean
  /** The caller did not ask for counters: events with only counters are read, not sent. */
  readonly usageUnasked?: boolean
}

/** Streaming of a dialect. Guards check a stream as the whole reply that its events describe. */
export interface DialectStreaming {
  open(options: StreamOptions): DialectStream
  /** Returns the whole reply that normalised events describe, terminal events included. */
  collect(events: readonly StreamEvent[]): JsonObject
  /** Converts a whole reply to the events of a stream. */
  tell(reply: JsonObject): readonly StreamEvent[]
  /** The model's text in the data of one event; empty if none. */
  textOf(data: string): string
}

/** The texts of a body, in order. */
export interface GuardTexts {
  readonly segments: readonly string[]
  /** Returns the body with other texts at the same places; unaffected parts stay the same. */
  replace(segments: readonly string[]): JsonObject
}

/** The tool calls in a body. */
export interface GuardToolCalls {
  readonly calls: readonly GuardedToolCall[]
  /** Returns the body with other arguments for the same calls. */
  replace(calls: readonly GuardedToolCall[]): JsonObject
}

/** Texts and tool calls of a dialect for guards and accounting. */
export interface DialectViews {
  /** Absent: texts under all member names of the known APIs. */
  promptTexts?(request: JsonObject): GuardTexts
  replyTexts?(reply: JsonObject): GuardTexts
  /** Absent: replies have no tool calls. */
  madeToolCalls?(reply: JsonObject): GuardToolCalls
  /** Tool calls of earlier turns that a request repeats. */
  earlierToolCalls?(request: JsonObject): readonly GuardedToolCall[]
}

/**
 * A wire format of routes: how upstream replies are read. Registered at the point `dialects`; the
 * plugin's manifest declares it.
 */
export interface Dialect {
  readonly id: string
  /**
   * Throws GatewayError `upstream_transport` if the body is not a valid reply; the error carries
   * the usage, if the body has one.
   */
  readReply(body: JsonValue): ReplyFacts
  /**
   * Answers without an upstream: on routes without an executor, on routes whose guard checks
   * prompts, and if an executor fails other than by an upstream's status 400.
   */
  answer?(request: JsonObject, route: RouteSpec): Promise<BufferedResult>
  /** False: its replies do not name the model. */
  readonly namesModel?: boolean
  /** Absent: its replies are never streamed. */
  readonly streaming?: DialectStreaming
  readonly views?: DialectViews
  /** Returns a denial as a whole reply. Absent: callers get an error instead. */
  refusal?(text: string, usage: Usage | undefined, identity: ReplyIdentity): JsonObject
  /**
   * Ids of state at the upstream, or texts that only it can read, in a reply or in the closing
   * event of a stream.
   */
  stateIn?(said: JsonValue | undefined): readonly string[]
}

/** A route for which a call may be converted. */
export interface ConversionRoute {
  readonly bound: BoundRoute
  /** Capabilities that the config allows and the route supports. */
  readonly capabilities: Readonly<Record<string, boolean>>
  readonly spec: Pick<RouteSpec, 'unsupportedParams'>
}

/** A call in another dialect. */
export interface ConvertedCall {
  readonly body: JsonObject
  /** Dropped members; see `ProviderCall.dropped`. */
  readonly dropped?: readonly string[]
}

/** The model and request of a reply, as the gateway names them. */
export interface ReplyIdentity {
  readonly publicModel: string
  readonly requestId: string
}

/**
 * Converts calls of one dialect to another, and replies back. Registered at the point
 * `conversions`. Conversions are not chained.
 */
export interface Conversion<Call extends SurfaceCall = SurfaceCall> {
  readonly from: string
  readonly to: string
  /**
   * The returned function is called for each route that could take the call. It throws GatewayError
   * `invalid_request` for a route that cannot, and the planner skips that route.
   */
  request(call: Call): (route: ConversionRoute) => ConvertedCall
  /** Converts a reply of `to`. */
  reply(reply: JsonObject, usage: Usage | undefined, identity: ReplyIdentity): JsonObject
  /** Converts a normalised stream of `to` to events of `from`. */
  stream(upstream: DialectStream, identity: ReplyIdentity): DialectStream
}
