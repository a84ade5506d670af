import type { RequestTags } from './exchange.ts'
import type { Principal } from './identity.ts'
import type { JsonObject } from './json.ts'

/**
 * The steps of an inference request that a middleware can wrap. Authentication, access, guards,
 * settlement and recording cannot be wrapped.
 */
export const seams = ['decode', 'admit', 'execute', 'respond'] as const
export type Seam = (typeof seams)[number]

/** The caller. A frozen copy. */
export type Caller = Pick<Principal, 'apiKeyId' | 'owner' | 'ownershipScopeKey'>

interface AnyExchange {
  readonly requestId: string
  readonly operation: string
  /** The caller's API: the id of a surface. */
  readonly surface: string
  /** The same object at each seam of a request, to pass values between middlewares. */
  readonly state: Map<string, unknown>
  /** A request header; `null` if it is absent or carries a credential. */
  header(name: string): string | null
}

/** A request before its body is read. */
export interface DecodeExchange extends AnyExchange {
  readonly caller: Caller
}

/** The request in the body. */
export interface DecodedRequest {
  /** The model, alias or tag selector. */
  readonly requestedModel: string
  readonly stream: boolean
  readonly tags: RequestTags
  /** The caller's body as read by its surface: a frozen copy, made on first use. */
  readonly body: JsonObject
  /**
   * Replaces the body. A copy is read and checked like the caller's, and is what access, routing,
   * guards, the provider and the request log see.
   */
  replaceBody(body: JsonObject): void
}

/** A request with its route, before budgets are checked or the provider is called. */
export interface PlannedExchange
  extends DecodeExchange,
    Pick<DecodedRequest, 'requestedModel' | 'stream' | 'tags' | 'body'> {
  /** The executing model, after aliases. */
  readonly resolvedModel: string
  readonly provider: string
  readonly upstreamModel: string
  readonly routeId: string
}

/** One route that could serve the request. */
export interface Candidate {
  readonly routeId: string
  readonly provider: string
  readonly upstreamModel: string
}

/** A request before it is sent to a provider. */
export interface ExecuteExchange extends PlannedExchange {
  /** All routes that can serve it, in draw order; the first is the planned one. */
  readonly candidates: readonly Candidate[]
}

/** The head of a reply or error before it is sent; a stream has not begun. */
export interface RespondExchange extends AnyExchange {
  /** Absent when authentication failed. */
  readonly caller: Caller | undefined
  readonly stream: boolean
  readonly status: number
  readonly errorCode: string | undefined
  /** Adds a response header before `next` is called. Throws for headers of the gateway. */
  setHeader(name: string, value: string): void
}

/** By seam: what a middleware sees, what the step returns, and what `next` takes. */
export interface SeamTypes {
  decode: { exchange: DecodeExchange; result: DecodedRequest; next: [] }
  admit: { exchange: PlannedExchange; result: undefined; next: [] }
  execute: { exchange: ExecuteExchange; result: undefined; next: [candidate?: Candidate] }
  respond: { exchange: RespondExchange; result: undefined; next: [] }
}

/** Wraps one step of each request that it applies to. Registered at the point `middleware`. */
export interface MiddlewareAt<S extends Seam> {
  /** Unique among all middlewares; `before` and `after` of others name it. */
  readonly id: string
  readonly around: S
  /** Ids of middlewares that this one wraps: it begins before them. */
  readonly before?: readonly string[]
  /** Ids of middlewares that wrap this one: it begins after them. */
  readonly after?: readonly string[]
  /** Ids of surfaces whose requests it sees. Absent: all. */
  readonly appliesTo?: readonly string[]
  /**
   * Calls `next` exactly once, or refuses. `next` runs the inner middlewares and the step, and
   * rejects if that fails; the request then fails with that error, whatever this middleware does. A
   * GatewayError thrown at `decode`, `admit` or `execute` refuses the request with that error.
   * Anything else thrown, any throw at `respond`, not calling `next`, and five seconds spent
   * outside of `next` are faults: the caller gets 500 and the log names the plugin. A call that was
   * made is settled and recorded in any case. At `execute`, `next` takes the candidate to call and
   * may be called again after a failure: each call is one attempt, and the result of the last one
   * counts.
   */
  handle(
    exchange: SeamTypes[S]['exchange'],
    next: (...choice: SeamTypes[S]['next']) => Promise<SeamTypes[S]['result']>,
  ): void | Promise<void>
}

export type Middleware = { [S in Seam]: MiddlewareAt<S> }[Seam]
