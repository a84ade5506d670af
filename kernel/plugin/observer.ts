import type { ProviderSpec } from './config.ts'
import type { ExchangeRecord } from './exchange.ts'

/** An inference request on arrival. */
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
 * Observes inference requests; it changes nothing but the trace context sent upstream. Its
 * functions must return at once, because requests wait for them; what they throw is counted and
 * logged.
 *
 * @example
 * ctx.provide(observers, {
 *   observe: ({ requestId }) => ({
 *     finished: ({ outcome, latencyMs }) => ctx.log.info({ requestId, outcome, latencyMs }),
 *   }),
 * })
 */
export interface Observer {
  /** A request has arrived. Returns its observer; undefined: not observed. */
  observe(request: ObservedRequest): Follower | undefined
}

/** Observes one inference request. */
export interface Follower {
  /**
   * The provider is about to be called. Returns the `traceparent` to send upstream. If no observer
   * returns one, the caller's is sent.
   */
  providerCalled?(call: ObservedCall): string | undefined
  /** The exchange has ended and been recorded. Called once for every request. */
  finished?(exchange: ExchangeRecord): void
}
