import type {
  Accounting,
  ApiSurface,
  ExchangeRecorder,
  Family,
  GatewayError,
  GuardPolicies,
  Identity,
  JsonObject,
  Principal,
  ProviderCall,
  ProviderSpec,
  RequestTags,
  RouteFlag,
} from '../plugin/index.ts'
import type { ModelCatalog } from '../routing/catalog.ts'
import type { ResolvedRoute } from '../routing/resolve.ts'
import type { MessagesRequest } from '../wire/messages-request.ts'
import type { Chains, ChainTools } from './chain.ts'
import type { RequestTrace } from './observe.ts'
import type { Sinks } from './sinks.ts'

/** One request as the door hands it in. */
export interface Incoming {
  readonly requestId: string
  readonly callerChoseRequestId: boolean
  /** Why it is refused before it is looked at. */
  readonly refusal: GatewayError | undefined
  readonly family: Family
  readonly apiSurface: ApiSurface | undefined
  readonly receivedAt: Date
  /** `performance.now()` at the same moment. */
  readonly startedAt: number
  header(name: string): string | null
  /** All headers, names in lower case. */
  headers(): Readonly<Record<string, string>>
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
  /** The caller's body, whatever its surface. */
  readonly json: JsonObject
  /** The same as a chat call, when the caller speaks the messages API. */
  readonly messages: MessagesRequest | undefined
  readonly tags: RequestTags
  /** The model, alias or tag selector that the caller asked for. */
  readonly selector: string
  readonly stream: boolean
  readonly needed: readonly RouteFlag[]
  readonly exposedToolCount: number | undefined
}

export interface Planned extends Decoded, ResolvedRoute {
  readonly provider: ProviderSpec
  /** What the chosen route is sent. */
  readonly call: Pick<ProviderCall, 'body' | 'rawBody' | 'messages'>
}

export interface Admitted extends Planned {
  readonly dispatchedAt: Date
  /** What is logged in the place of the caller's body, where a guard has changed or denied it. */
  readonly loggedBody?: JsonObject
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
  readonly recorders: readonly ExchangeRecorder[]
  /** Middlewares around the steps; they were compiled before the first request. */
  readonly chains: Chains
  readonly chainTools: ChainTools
  /** Undefined: nobody wants to be told of settled calls. */
  readonly sinks: Sinks | undefined
  trace(incoming: Incoming): RequestTrace
  readonly random: () => number
  /** A fault of the gateway or of a plugin: for the operator's log. */
  fault(message: string, error: unknown, requestId: string): void
}
