import type { ProviderSpec } from './config.ts'
import type { ExchangeRecord } from './exchange.ts'

/** An inference request at the door. */
export interface ObservedRequest {
  readonly requestId: string
  readonly receivedAt: Date
  /** `performance.now()` at the same moment. */
  readonly startedAt: number
  header(name: string): string | null
}

/** A call to a provider. */
export interface ObservedCall {
  readonly provider: ProviderSpec
  readonly operation: string
  readonly upstreamModel: string
}

/**
 * Told of what happens to inference requests; it changes nothing but the trace context that goes
 * upstream. Its calls are on the way of the request, so they return at once; what they throw is
 * counted and logged.
 *
 * @example
 * ctx.provide(observers, {
 *   observe: ({ requestId }) => ({
 *     finished: ({ outcome, latencyMs }) => ctx.log.info({ requestId, outcome, latencyMs }),
 *   }),
 * })
 */
export interface Observer {
  /** A request has arrived. Gives what follows it; undefined: nothing does. */
  observe(request: ObservedRequest): Follower | undefined
}

/** Follows one inference request. */
export interface Follower {
  /**
   * The provider is about to be called. Gives the `traceparent` that goes upstream; undefined, or
   * without an observer that gives one: the caller's.
   */
  providerCalled?(call: ObservedCall): string | undefined
  /** The exchange has ended and been recorded. Called once for every request. */
  finished?(exchange: ExchangeRecord): void
}
