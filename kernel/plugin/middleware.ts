import type { RequestTags } from './exchange.ts'
import type { Principal } from './identity.ts'
import type { JsonObject } from './json.ts'

/**
 * The steps of an inference request that a middleware may stand around. Authentication, access,
 * guards, settlement and the record are none of them: nothing stands around those.
 */
export const seams = ['decode', 'admit', 'execute', 'respond'] as const
export type Seam = (typeof seams)[number]

/** Who is calling. A frozen copy. */
export type Caller = Pick<Principal, 'apiKeyId' | 'owner' | 'ownershipScopeKey'>

interface AnyExchange {
  readonly requestId: string
  readonly operation: string
  /** The API in which the caller speaks: the id of a surface. */
  readonly surface: string
  /** Lives as long as the request and is the same at every seam: what one leaves for another. */
  readonly state: Map<string, unknown>
  /** A header of the request; `null` for one that is absent or carries a credential. */
  header(name: string): string | null
}

/** Before the body is read. */
export interface DecodeExchange extends AnyExchange {
  readonly caller: Caller
}

/** What the body says. */
export interface DecodedRequest {
  /** The model, alias or tag selector. */
  readonly requestedModel: string
  readonly stream: boolean
  readonly tags: RequestTags
  /** The caller's body in the shape of its surface: a frozen copy, made when it is first read. */
  readonly body: JsonObject
  /**
   * Puts another body in its place: a copy of it is read and checked as the caller's was, and is
   * what access, routing, guards, the provider and the request log get to see.
   */
  replaceBody(body: JsonObject): void
}

/** A request whose route is known; before the budgets are asked, or before the provider is called. */
export interface PlannedExchange
  extends DecodeExchange,
    Pick<DecodedRequest, 'requestedModel' | 'stream' | 'tags' | 'body'> {
  /** Canonical execution model. */
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

/** A request that is about to be sent to a provider. */
export interface ExecuteExchange extends PlannedExchange {
  /** All routes that could serve it, in the order in which they are drawn; the first is the planned. */
  readonly candidates: readonly Candidate[]
}

/** The head of a reply, before it is sent; a stream has not begun. Errors have one too. */
export interface RespondExchange extends AnyExchange {
  /** Absent when authentication failed. */
  readonly caller: Caller | undefined
  readonly stream: boolean
  readonly status: number
  readonly errorCode: string | undefined
  /** Adds a response header, until `next` is called. Throws for one that the gateway sets itself. */
  setHeader(name: string, value: string): void
}

/** What a middleware is shown at each seam, what the step gives, and what it may be told. */
export interface SeamTypes {
  decode: { exchange: DecodeExchange; result: DecodedRequest; next: [] }
  admit: { exchange: PlannedExchange; result: undefined; next: [] }
  execute: { exchange: ExecuteExchange; result: undefined; next: [candidate?: Candidate] }
  respond: { exchange: RespondExchange; result: undefined; next: [] }
}

/** Stands around one step of every request that it applies to. Registered at the point `middleware`. */
export interface MiddlewareAt<S extends Seam> {
  /** Unique among all middlewares; `before` and `after` of others name it. */
  readonly id: string
  readonly around: S
  /** Ids of middlewares that this one stands outside of: it begins before them. */
  readonly before?: readonly string[]
  /** Ids of middlewares that this one stands inside of: it begins after them. */
  readonly after?: readonly string[]
  /** Ids of surfaces whose requests it sees. Absent: all. */
  readonly appliesTo?: readonly string[]
  /**
   * Calls `next` exactly once, or refuses. `next` runs what stands inside and then the step, and
   * rejects when that fails; the request then fails in that way, whatever is made of it here.
   * Throwing GatewayError at `decode`, `admit` or `execute` refuses the request: the caller is
   * told. Anything else that is thrown, any throw at `respond`, not calling `next`, and five
   * seconds spent outside of `next` are faults: the caller gets 500, the log names the plugin.
   * A call that has been made is settled and recorded all the same.
   * At `execute`, `next` takes the candidate to call, and may be called again when it has failed: each
   * call is one attempt, and what the last one gives is what counts.
   */
  handle(
    exchange: SeamTypes[S]['exchange'],
    next: (...choice: SeamTypes[S]['next']) => Promise<SeamTypes[S]['result']>,
  ): void | Promise<void>
}

export type Middleware = { [S in Seam]: MiddlewareAt<S> }[Seam]
