import { callersTraceparent, checkedTraceparent } from 'model-gateway/wire'
import type { McpObservedRequest, McpObserver, McpOutcome } from './contract.ts'

/** Follows one request for all observers. */
export interface McpTraced {
  /** The W3C trace context that goes to the server. */
  readonly traceparent: string | undefined
  /** The head of the reply is known. Never throws. */
  finished(outcome: McpOutcome): void
}

/**
 * Notifies every observer of a request. Returns the trace context of the first observer that has
 * one, or else the caller's. `failed` receives the errors of observers.
 */
export function createMcpObservation(
  observers: readonly McpObserver[],
  failed: (error: unknown, requestId: string) => void,
): (request: McpObservedRequest) => McpTraced {
  return (request) => {
    const { requestId, header } = request
    const tell = <O, T>(all: readonly O[], call: (one: O) => T | undefined) =>
      all.flatMap((one) => {
        try {
          return call(one) ?? []
        } catch (error) {
          failed(error, requestId)
          return []
        }
      })
    const followers = tell(observers, (observer) => observer.observe(request))
    const [first] = tell(followers, ({ traceparent }) => checkedTraceparent(traceparent))
    return {
      traceparent: first ?? callersTraceparent(header),
      finished(outcome) {
        tell(followers, (follower) => void follower.finished?.(outcome))
      },
    }
  }
}
