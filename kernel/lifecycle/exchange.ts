import type {
  Accounting,
  Affinity,
  ExchangeRecorder,
  GatewayError,
  GuardPolicies,
  Identity,
  JsonObject,
  ObservedRequest,
  Principal,
  ProviderCall,
  ProviderSpec,
  RequestTags,
  Surface,
  SurfaceCall,
} from '../plugin/index.ts'
import type { ModelCatalog, Route } from '../routing/catalog.ts'
import type { ResolvedModel } from '../routing/resolve.ts'
import type { Way } from '../routing/ways.ts'
import type { Chains, ChainTools } from './chain.ts'
import type { RequestTrace } from './observe.ts'
import type { Heard } from './upstream-headers.ts'

/** One request from the HTTP layer. */
export interface Incoming {
  readonly requestId: string
  readonly callerChoseRequestId: boolean
  /** Set if the request must be refused at once. */
  readonly refusal: GatewayError | undefined
  readonly surface: Surface
  readonly receivedAt: Date
  /** `performance.now()` at the same moment. */
  readonly startedAt: number
  /** All headers, names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Reads the whole body as text, with deadline and size limit. Throws GatewayError. */
  body(): Promise<string>
  /** Aborts when the caller disconnects; created on first use, because that is costly. */
  callerLeft(): AbortSignal
  /** The client address, if known. */
  address?(): string | undefined
}

/** The response for the HTTP layer. */
export type Reply =
  | {
      readonly kind: 'buffered'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    }
  | {
      readonly kind: 'stream'
      readonly headers: Readonly<Record<string, string>>
      readonly stream: ReplyStream
    }

/** The text of an event stream, read piece by piece. */
export interface ReplyStream {
  /** The next text; undefined at the end. Never rejects. */
  next(): Promise<string | undefined>
  /** Call when the caller has left, or with a reason when it cannot get the stream. */
  cancel(refusal?: GatewayError): void
}

// Each step of the lifecycle returns a richer value than it received.

export interface Received extends Incoming {
  /** Returns `null` if the header is absent. */
  header(name: string): string | null
  /** A lease on the config that serves the request; released when the exchange is recorded. */
  readonly lease: Lease
  readonly trace: RequestTrace
  /** Values that middlewares share. */
  readonly state: Map<string, unknown>
}

export interface Authenticated extends Received {
  readonly principal: Principal
}

export interface Decoded extends Authenticated {
  readonly rawBody: string
  readonly json: JsonObject
  /** The call as read by the surface. */
  readonly read: SurfaceCall
  readonly tags: RequestTags
  /** The requested model, alias or tag selector, in canonical spelling. */
  readonly selector: string
}

/** The model is resolved; it may have no route for the request. */
export interface Resolved extends Decoded, ResolvedModel {}

/** The request body and headers for a route. */
export type CallContent = Pick<ProviderCall, 'body' | 'rawBody' | 'headers'>

export interface Planned extends Resolved {
  readonly route: Route
  readonly way: Way
  readonly provider: ProviderSpec
  readonly call: CallContent
  /** Dropped members of the caller's request, by the names that are reported to callers. */
  readonly dropped: Set<string>
  /** What the response headers of the last upstream call said. */
  heard: Heard
  /** All routes that can serve the request, in order; the first is `route`. */
  candidates(): readonly Route[]
  /** The same request on another candidate. */
  on(route: Route): Planned
}

export interface Admitted extends Planned {
  readonly dispatchedAt: Date
  /** Logged instead of the caller's body if a guard changed or denied it. */
  readonly loggedBody?: JsonObject
}

/** An exchange, as far as its request got. */
export type Exchange = Received | Authenticated | Decoded | Resolved | Planned | Admitted

/** Ends a request before a provider is called; carries the exchange so far. */
export class Refusal extends Error {
  readonly error: unknown
  readonly exchange: Exchange
  constructor(error: unknown, exchange: Exchange) {
    super('the request is refused', { cause: error })
    this.error = error
    this.exchange = exchange
  }
}

/** An accepted config with bound providers and routes. */
export interface Runtime {
  readonly configVersion: string
  readonly acceptedAt: Date
  readonly catalog: ModelCatalog
  readonly providers: ReadonlyMap<string, ProviderSpec>
  /** Undefined without guardrails. */
  readonly guards: GuardPolicies | undefined
}

/** Keeps the providers of a config alive after a reload has replaced it. */
export interface Lease {
  readonly runtime: Runtime
  release(): void
}

export interface LifecycleServices {
  /** Leases the active config; it may be used until the lease is released. */
  lease(): Lease
  readonly identity: Identity
  readonly accounting: Accounting
  readonly affinity?: Affinity | undefined
  readonly recorders: readonly ExchangeRecorder[]
  /** Middleware chains, compiled at the start. */
  readonly chains: Chains
  readonly chainTools: ChainTools
  trace(request: ObservedRequest): RequestTrace
  readonly random: () => number
  /** Logs a failure of the gateway or of a plugin for the operator. */
  fault(message: string, error: unknown, requestId: string): void
}
