import type { ExchangeRecord, ObservedCall, ObservedRequest, Observer } from '../plugin/index.ts'
import { callersTraceparent, checkedTraceparent } from '../wire/traceparent.ts'

/** Notifies all observers of one request. Never throws. */
export interface RequestTrace {
  /** The provider call begins; returns the W3C trace context to send upstream. */
  providerCalled(call: ObservedCall): string | undefined
  finished(exchange: ExchangeRecord): void
}

/** An observer with its plugin. */
export interface Named {
  readonly plugin: string
  readonly observer: Observer
}

/** Called for each failure of an observer. */
export type ObserverFailed = (plugin: string, error: unknown, requestId: string) => void

type Follow = (request: ObservedRequest) => RequestTrace | undefined

/** Without observers, the caller's trace context is sent upstream unchanged. */
function passTraceOn({ header }: ObservedRequest): RequestTrace {
  return { providerCalled: () => callersTraceparent(header), finished() {} }
}

/** Notifies each observer of a request; the first returned trace context is sent upstream. */
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
          // TypeScript accepts an async function where the type returns void.
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
