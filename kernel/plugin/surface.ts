import type { Ties } from './affinity.ts'
import type { GuardedToolCall } from './guardrail.ts'
import type { HttpCall } from './http.ts'
import type { JsonObject, JsonValue } from './json.ts'
import type { BoundRoute, BufferedResult } from './provider.ts'
import type { Feature, RouteSpec } from './route.ts'
import type { StreamEvent } from './stream.ts'
import type { Usage } from './usage.ts'

/** A request as a surface gets it: JSON that has been parsed, under the size limit. */
export interface SurfaceRequest {
  /** The request's own: a surface may correct it, and what it leaves is logged. */
  readonly json: JsonValue
  /** The same, byte for byte as text. */
  readonly rawBody: string
  /** `null` for one that is absent. */
  header(name: string): string | null
}

/** What the gateway needs to know of a request; a surface adds what its conversions need. */
export interface SurfaceCall {
  /** The model, alias or tag selector. */
  readonly model: string
  readonly stream: boolean
  /** What a route has to be able to do beside the operation. */
  readonly features: readonly Feature[]
  /** How many tools are offered; undefined where there can be none. */
  readonly exposedToolCount: number | undefined
  /** Headers that are part of the request in its dialect, for executors of that: names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Something that went wrong, as a caller is told of it. */
export interface CallError {
  readonly code: string
  readonly message: string
  /** Absent where an upstream's stream did not say it. */
  readonly type?: string | undefined
  /** Absent for what an upstream said in its stream. */
  readonly status?: number
  /** The member of the request that is wrong. */
  readonly param?: string | undefined
  /** What the gateway calls it; set for all that went wrong at an upstream. */
  readonly gatewayCode?: string
  /** Set when the prompt does not fit the model. */
  readonly overflow?: ContextOverflow | undefined
  readonly details?: JsonObject
  /** The number of the event that tells of it, in a stream whose events have numbers. */
  readonly number?: number | undefined
}

/** What is known of a prompt that is too long: it counts `tokens`, and the model takes `limit`. */
export interface ContextOverflow {
  readonly tokens?: number | undefined
  readonly limit?: number | undefined
}

/** An error in the shape that callers of a surface read. */
export interface WireError {
  readonly body: JsonObject
  /** The event that ends a failed stream, as SSE text. */
  readonly event: string
  /** Of a buffered reply, beside those that the error has by itself. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * How requests and replies of a surface pass the door where they are more than JSON bodies on a fixed
 * path: a model in the path, a form with a file, sound as a reply.
 */
export interface SurfaceDoor {
  /**
   * The JSON text of a request, once its key is known to be good. Keeps the limits of the server, as
   * `HttpCall.text` does. Throws GatewayError.
   */
  read(call: HttpCall): Promise<string>
  /** What the caller is sent for the reply, errors included, with its status and headers. */
  write?(reply: Response, call: HttpCall): Response | Promise<Response>
}

/**
 * A public API: where it is called, how its requests are read, how its errors look. Registered at the
 * point `surfaces`. Replies are written by the dialect, or by the conversion from it.
 */
export interface Surface<Call extends SurfaceCall = SurfaceCall> {
  /** What requests are logged under, and what `appliesTo` of middlewares names. */
  readonly id: string
  /**
   * Its requests are sent by `POST` to each of them, and to those below `/v1` without it and with two;
   * paths below them get its errors, too. `/v1/things/*` takes all paths below; its `door` is given
   * the rest as `params['*']`.
   */
  readonly paths: readonly string[]
  readonly door?: SurfaceDoor
  /** Headers beside `Authorization` in which a key can stand. Default: `x-api-key`, `x-gateway-api-key`. */
  readonly keyHeaders?: readonly string[]
  /** The wire format that its callers write and read. */
  readonly dialect: string
  /** The flag that a route must have, and what the ledger and the log call the call. */
  readonly operation: string
  /** A flag that a route must have beside it. */
  readonly capability?: string
  /** False: its calls cost nothing. No budget refuses them, and the ledger has no row of them. */
  readonly priced?: boolean
  /**
   * At once, not in a promise. Throws GatewayError `invalid_request`, which names the field; anything
   * else that it throws or gives is a fault of the surface: the caller gets a 500.
   */
  read(request: SurfaceRequest): Call
  /** Absent: `{error: {message, type, code, gateway_code, param, request_id}}`. */
  error?(error: CallError, requestId: string): WireError
  /** Asked where a model has several routes; absent: each of its requests stands alone. */
  ties?(request: JsonObject): Ties
  /** SSE text that tells callers of a silent stream that it lives. Absent: a comment. */
  readonly keepAlive?: string
  /** Headers of every reply beside `x-request-id`. */
  headers?(requestId: string): Readonly<Record<string, string>>
}

/** What a buffered reply says about the call. */
export interface ReplyFacts {
  readonly usage: Usage | undefined
  /** Undefined where there can be no tool calls. */
  readonly invokedToolCount: number | undefined
  /** Set when the reply has its shape and says that the call failed. */
  readonly failure?: StreamFailure
}

export interface StreamFailure {
  /** The upstream's own code for an error that it sent in band, else `upstream_transport`. */
  readonly code: string
  /** The upstream's own type and parameter. */
  readonly type?: string | undefined
  readonly param?: string | undefined
  readonly message: string
  /** The upstream's error event is among the events already: send no error event of our own. */
  readonly forwarded: boolean
}

/**
 * The events of one upstream stream, made fit for the caller: a state machine without I/O. Once
 * `outcome` is no longer `open`, what is pushed is ignored.
 */
export interface DialectStream {
  /** What may be sent to the caller now; unchanged events are passed on as the same objects. */
  push(batch: readonly StreamEvent[]): StreamEvent[]
  /** Call it when the upstream ended without an error of its own; afterwards nothing is `open`. */
  end(): void
  readonly outcome: 'open' | 'complete' | 'failed'
  /** The events that close a complete stream: they are sent after settlement. */
  readonly terminal: readonly StreamEvent[]
  /**
   * Set when the outcome is `failed`, or will be: the upstream has reported it, and may say so in
   * one more event.
   */
  readonly failure: StreamFailure | undefined
  /** The latest coherent usage so far. */
  readonly usage: Usage | undefined
  /** Tool calls that began so far. */
  readonly invokedToolCount: number
  /** The number of the next event, in dialects that number theirs. */
  readonly nextNumber?: number | undefined
}

export interface StreamOptions {
  /** The model that the caller asked for; it replaces the upstream's name everywhere. */
  readonly publicModel: string
  /** The upstream writes the dialect itself, so that even its habits pass: see `compatShape`. */
  readonly native: boolean
  /** The caller did not ask for counters: events that hold nothing else are read, but not sent. */
  readonly usageUnasked?: boolean
}

/** How a dialect streams. Guards judge a stream by the whole reply that its events amount to. */
export interface DialectStreaming {
  open(options: StreamOptions): DialectStream
  /** The whole reply that checked events amount to, the terminal ones included. */
  collect(events: readonly StreamEvent[]): JsonObject
  /** A whole reply as the events of a stream. */
  tell(reply: JsonObject): readonly StreamEvent[]
  /** What the model said in the data of one event; empty when it is none. */
  textOf(data: string): string
}

/** Texts of a body in their order, each at a place of its own. */
export interface GuardTexts {
  readonly segments: readonly string[]
  /** The body with other texts in the same places; what has none of them stays the same object. */
  replace(segments: readonly string[]): JsonObject
}

/** The tool calls in a body, each at a place of its own. */
export interface GuardToolCalls {
  readonly calls: readonly GuardedToolCall[]
  /** The body with other arguments for the same calls. */
  replace(calls: readonly GuardedToolCall[]): JsonObject
}

/** What guards and accounting see of a dialect beside the texts under the usual names. */
export interface DialectViews {
  /** Absent: the texts under all names by which the known APIs call them. */
  promptTexts?(request: JsonObject): GuardTexts
  replyTexts?(reply: JsonObject): GuardTexts
  /** Absent: there are none. */
  madeToolCalls?(reply: JsonObject): GuardToolCalls
  /** Calls of earlier turns, as a request repeats them. */
  earlierToolCalls?(request: JsonObject): readonly GuardedToolCall[]
}

/**
 * A wire format in which routes are executed: how what an upstream says is read. Registered at the
 * point `dialects`; the plugin's manifest declares it.
 */
export interface Dialect {
  readonly id: string
  /**
   * Throws GatewayError `upstream_transport` when the body does not have the shape of a reply; usage
   * that stands in it all the same is in the error.
   */
  readReply(body: JsonValue): ReplyFacts
  /**
   * Answers without an upstream: on routes without an executor, on those whose guard looks at prompts,
   * and where an executor fails, unless its upstream refuses the request with status 400.
   */
  answer?(request: JsonObject, route: RouteSpec): Promise<BufferedResult>
  /** False: its replies do not say which model they are of. */
  readonly namesModel?: boolean
  /** Absent: its replies are never streamed. */
  readonly streaming?: DialectStreaming
  readonly views?: DialectViews
  /** A whole reply that tells a denial as a turn. Absent: its callers get an error in its place. */
  refusal?(text: string, usage: Usage | undefined, identity: ReplyIdentity): JsonObject
  /**
   * Ids of state that the upstream keeps, or texts that only it can read: in a reply, or in the data
   * of an event that closes a stream.
   */
  stateIn?(said: JsonValue | undefined): readonly string[]
}

/** A route that a call may be converted for. */
export interface ConversionRoute {
  readonly bound: BoundRoute
  /** What the config allows and the route can do. */
  readonly capabilities: Readonly<Record<string, boolean>>
  readonly spec: Pick<RouteSpec, 'unsupportedParams'>
}

/** A call in another dialect. */
export interface ConvertedCall {
  readonly body: JsonObject
  /** What is left out on the way; see `ProviderCall.dropped`. */
  readonly dropped?: readonly string[]
}

/** Whose reply it is, in terms of the gateway. */
export interface ReplyIdentity {
  readonly publicModel: string
  readonly requestId: string
}

/**
 * Turns calls of one dialect into calls of another, and their replies back. Registered at the point
 * `conversions`; one leads from a dialect to another, and none is put behind another.
 */
export interface Conversion<Call extends SurfaceCall = SurfaceCall> {
  readonly from: string
  readonly to: string
  /**
   * The returned function is asked for each route that could take the call. It throws GatewayError
   * `invalid_request` for one that cannot, which the planner then leaves out.
   */
  request(call: Call): (route: ConversionRoute) => ConvertedCall
  /** `reply` has the shape of `to`. */
  reply(reply: JsonObject, usage: Usage | undefined, identity: ReplyIdentity): JsonObject
  /** A checked stream of `to` as the events of `from`. */
  stream(upstream: DialectStream, identity: ReplyIdentity): DialectStream
}
