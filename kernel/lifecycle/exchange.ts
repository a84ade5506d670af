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

/** One request as the door hands it in. */
export interface Incoming {
  readonly requestId: string
  readonly callerChoseRequestId: boolean
  /** Why it is refused before it is looked at. */
  readonly refusal: GatewayError | undefined
  readonly surface: Surface
  readonly receivedAt: Date
  /** `performance.now()` at the same moment. */
  readonly startedAt: number
  /** All of them, names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Reads the whole body as text under its deadline and size limit. Throws GatewayError. */
  body(): Promise<string>
  /** Aborts when the caller leaves; made when first asked for, which costs. */
  callerLeft(): AbortSignal
  /** Where it comes from, as far as that is known. */
  address?(): string | undefined
}

/** What the door sends back. */
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

/** The text of an event stream, pulled piece by piece. */
export interface ReplyStream {
  /** Undefined at the end. Never rejects. */
  next(): Promise<string | undefined>
  /** The caller has left; or never gets to see it, for this reason. */
  cancel(refusal?: GatewayError): void
}

// Each step of the lifecycle returns a richer value than it was given.

export interface Received extends Incoming {
  /** `null` for one that is absent. */
  header(name: string): string | null
  /** On the config that the request is served with; released when the exchange is recorded. */
  readonly lease: Lease
  readonly trace: RequestTrace
  /** What middlewares leave for each other. */
  readonly state: Map<string, unknown>
}

export interface Authenticated extends Received {
  readonly principal: Principal
}

export interface Decoded extends Authenticated {
  readonly rawBody: string
  readonly json: JsonObject
  /** What the surface has read in it. */
  readonly read: SurfaceCall
  readonly tags: RequestTags
  /** The model, alias or tag selector that the caller asked for, in its one spelling. */
  readonly selector: string
}

/** The model is known, and may have no route for the request. */
export interface Resolved extends Decoded, ResolvedModel {}

/** What a route is sent. */
export type CallContent = Pick<ProviderCall, 'body' | 'rawBody' | 'headers'>

export interface Planned extends Resolved {
  readonly route: Route
  readonly way: Way
  readonly provider: ProviderSpec
  readonly call: CallContent
  /** What it has not of the caller's request, by the names under which callers are told of it. */
  readonly dropped: Set<string>
  /** What the headers of its last call's reply said. */
  heard: Heard
  /** All routes that could serve the request, in their order; the first is `route`. */
  candidates(): readonly Route[]
  /** The same request on another of them. */
  on(route: Route): Planned
}

export interface Admitted extends Planned {
  readonly dispatchedAt: Date
  /** What is logged in the place of the caller's body, where a guard has changed or denied it. */
  readonly loggedBody?: JsonObject
}

/** An exchange as far as it got. */
export type Exchange = Received | Authenticated | Decoded | Resolved | Planned | Admitted

/** What ends a request before a provider is called, with all that was known of it by then. */
export class Refusal extends Error {
  readonly error: unknown
  readonly exchange: Exchange
  constructor(error: unknown, exchange: Exchange) {
    super('the request is refused', { cause: error })
    this.error = error
    this.exchange = exchange
  }
}

/** An accepted config made executable. */
export interface Runtime {
  readonly configVersion: string
  readonly acceptedAt: Date
  readonly catalog: ModelCatalog
  readonly providers: ReadonlyMap<string, ProviderSpec>
  /** Undefined when no plugin guards. */
  readonly guards: GuardPolicies | undefined
}

/** Keeps the providers of a config alive after another one has taken its place. */
export interface Lease {
  readonly runtime: Runtime
  release(): void
}

export interface LifecycleServices {
  /** The config in force; whoever holds a lease on it may use it until they release it. */
  lease(): Lease
  readonly identity: Identity
  readonly accounting: Accounting
  readonly affinity?: Affinity | undefined
  readonly recorders: readonly ExchangeRecorder[]
  /** Middlewares around the steps; they were compiled before the first request. */
  readonly chains: Chains
  readonly chainTools: ChainTools
  trace(request: ObservedRequest): RequestTrace
  readonly random: () => number
  /** A fault of the gateway or of a plugin: for the operator's log. */
  fault(message: string, error: unknown, requestId: string): void
}
