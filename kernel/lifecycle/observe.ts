import type { ExchangeRecord, ObservedCall, ObservedRequest, Observer } from '../plugin/index.ts'
import { callersTraceparent, checkedTraceparent } from '../wire/traceparent.ts'

/** Follows one request for all observers. Never throws. */
export interface RequestTrace {
  /** The provider call begins; gives the W3C trace context that goes upstream with it. */
  providerCalled(call: ObservedCall): string | undefined
  finished(exchange: ExchangeRecord): void
}

/** An observer and its plugin. */
export interface Named {
  readonly plugin: string
  readonly observer: Observer
}

/** Told of a fault of an observer. */
export type ObserverFailed = (plugin: string, error: unknown, requestId: string) => void

type Follow = (request: ObservedRequest) => RequestTrace | undefined

/** Without observers: the caller's trace context goes upstream as it is. */
function passTraceOn({ header }: ObservedRequest): RequestTrace {
  return { providerCalled: () => callersTraceparent(header), finished() {} }
}

/** Tells every observer of a request; the trace context of the first that gives one goes upstream. */
export function createObservation(
  observers: readonly Named[],
  failed: ObserverFailed,
): (request: ObservedRequest) => RequestTrace {
  const follow = observers.reduceRight<Follow>(
    (next, one) => followedBy(one, next, failed),
    () => undefined,
  )
  return (request) => follow(request) ?? passTraceOn(request)
}

function followedBy({ plugin, observer }: Named, next: Follow, failed: ObserverFailed): Follow {
  return (request) => {
    const { requestId, header } = request
    let follower: ReturnType<Observer['observe']>
    try {
      follower = observer.observe(request)
    } catch (error) {
      failed(plugin, error, requestId)
    }
    const others = next(request)
    if (!follower) return others
    const own = follower
    return {
      providerCalled(call) {
        let traceparent: string | undefined
        try {
          traceparent = checkedTraceparent(own.providerCalled?.(call))
        } catch (error) {
          failed(plugin, error, requestId)
        }
        const theirs = others?.providerCalled(call)
        return traceparent ?? theirs ?? callersTraceparent(header)
      },
      finished(exchange) {
        try {
          // An async function passes for one that gives nothing.
          const done: unknown = own.finished?.(exchange)
          if (done instanceof Promise) done.catch((error) => failed(plugin, error, requestId))
        } catch (error) {
          failed(plugin, error, requestId)
        }
        others?.finished(exchange)
      },
    }
  }
}
