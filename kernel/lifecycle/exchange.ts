import type {
  Accounting,
  ExchangeRecorder,
  Family,
  Identity,
  JsonObject,
  Principal,
  ProviderSpec,
  RouteFlag,
} from '../plugin/index.ts'
import type { ModelCatalog } from '../routing/catalog.ts'
import type { ResolvedRoute } from '../routing/resolve.ts'

/** One request as the door hands it in. */
export interface Incoming {
  readonly requestId: string
  readonly callerChoseRequestId: boolean
  readonly family: Family
  readonly receivedAt: Date
  /** `performance.now()` at the same moment. */
  readonly startedAt: number
  header(name: string): string | null
  /** Reads the whole body as text under its deadline and size limit. Throws GatewayError. */
  body(): Promise<string>
  /** Whether the caller's connection has gone. */
  callerLeft(): boolean
}

/** What the door sends back. */
export type Reply =
  | {
      readonly kind: 'buffered'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    }
  | { readonly kind: 'stream'; readonly stream: ReplyStream }

/** The text of an event stream, pulled piece by piece. */
export interface ReplyStream {
  /** Undefined at the end. Never rejects. */
  next(): Promise<string | undefined>
  /** The caller has left. */
  cancel(): void
}

// Each step of the lifecycle returns a richer value than it was given.

export interface Authenticated extends Incoming {
  readonly principal: Principal
}

export interface Decoded extends Authenticated {
  readonly rawBody: string
  readonly json: JsonObject
  /** The model, alias or tag selector that the caller asked for. */
  readonly selector: string
  readonly stream: boolean
  readonly needed: readonly RouteFlag[]
  readonly exposedToolCount: number | undefined
}

export interface Planned extends Decoded, ResolvedRoute {
  readonly provider: ProviderSpec
  readonly configVersion: string
}

export interface Admitted extends Planned {
  readonly dispatchedAt: Date
}

/** An accepted config made executable. A request keeps the one it started with. */
export interface Runtime {
  readonly configVersion: string
  readonly acceptedAt: Date
  readonly catalog: ModelCatalog
  readonly providers: ReadonlyMap<string, ProviderSpec>
}

export interface LifecycleServices {
  runtime(): Runtime
  readonly identity: Identity
  readonly accounting: Accounting
  readonly recorders: readonly ExchangeRecorder[]
  readonly random: () => number
  /** How long a stream is read on after its caller left, to learn what it cost. */
  readonly abortDrainMs: number
  /** A fault of the gateway or of a plugin: for the operator's log. */
  fault(message: string, error: unknown, requestId: string): void
}
