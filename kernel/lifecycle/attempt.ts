import {
  type Attempt,
  type AttemptStatus,
  GatewayError,
  type JsonObject,
  type ProviderCall,
  type ProviderResult,
  type StreamResult,
} from '../plugin/index.ts'
import { nextTurn } from '../plugin/turn.ts'
import type { Admitted, LifecycleServices } from './exchange.ts'
import { startDrain } from './read-out.ts'
import { nothingHeard, readUpstreamHeaders } from './upstream-headers.ts'
import { createWatchdog, type Watchdog } from './watchdog.ts'

export interface AttemptError {
  readonly code: string
  readonly message: string
  readonly details?: JsonObject
}

/** One call of a provider, from dispatch to its end. */
export interface RunningAttempt {
  readonly watchdog: Watchdog
  /** The provider's result. Rejects with GatewayError, whatever the provider throws. */
  execute(): Promise<ProviderResult>
  /** The provider refused the request without calling an upstream. */
  readonly refused: boolean
  /** The caller left before it got the reply. */
  readonly left: boolean
  /** Turns what a provider threw into the error for the caller. */
  containFault(error: unknown): GatewayError
  firstByte(): void
  /** The record of the attempt; call once, when it is over. */
  finish(status: AttemptStatus, error?: AttemptError): Attempt
}

export function beginAttempt(admitted: Admitted, services: LifecycleServices): RunningAttempt {
  const { route, way, provider, surface, read } = admitted
  const startedAt = performance.now()
  admitted.heard = nothingHeard
  let drain: ReturnType<typeof startDrain> | undefined
  let left: AbortSignal | undefined
  const leave = () => {
    drain = startDrain(watchdog, services.accounting)
  }
  // Reading the signal costs more than all other work of a quick call.
  const watchdog = createWatchdog(provider.timeouts, !read.stream, () => {
    if (over) return
    left = admitted.callerLeft()
    if (left.aborted) leave()
    else left.addEventListener('abort', leave)
  })
  /** Whether the provider has answered; from then on the reader of a stream takes over. */
  let over = false
  const answered = () => {
    if (over) return
    over = true
    left?.removeEventListener('abort', leave)
    drain?.stop()
  }
  let firstByteMs: number | undefined
  let refused = false

  function containFault(error: unknown): GatewayError {
    if (error instanceof GatewayError) return error
    if (watchdog.signal.aborted) return watchdog.signal.reason as GatewayError
    services.fault(`provider ${provider.id} failed`, error, admitted.requestId)
    return new GatewayError('upstream_transport', 'the connection to the provider failed', {
      cause: error,
    })
  }

  return {
    watchdog,
    containFault,
    async execute() {
      await nextTurn()
      const call: ProviderCall = {
        ...admitted.call,
        requestId: admitted.requestId,
        stream: read.stream,
        surface: surface.id,
        dialect: way.dialect,
        traceparent: admitted.trace.providerCalled({
          provider,
          operation: surface.operation,
          upstreamModel: route.spec.upstreamModel,
        }),
        maxResponseBytes: provider.maxResponseBytes,
        signal: watchdog.signal,
        alive: watchdog.alive,
        dropped: (name) => void admitted.dropped.add(name),
        answered(headers, sent = {}) {
          // Of several parallel upstream calls, each reports its headers.
          const heard = readUpstreamHeaders(headers, sent, admitted.requestId)
          if (heard === nothingHeard) return
          admitted.heard = { ...heard, headers: { ...admitted.heard.headers, ...heard.headers } }
        },
      }
      try {
        const result: unknown = await watchdog.guard(
          Promise.resolve(way.execute?.call(route.bound.execute, call)),
        )
        if (!isResult(result)) throw new Error('it returned neither a body nor a stream of events')
        if ((result.kind === 'stream') !== call.stream) throw new Error(otherKind[result.kind])
        return result.kind === 'stream' ? opened(result) : result
      } catch (thrown) {
        const error = containFault(thrown)
        refused = error.code === 'invalid_request'
        throw error
      } finally {
        answered()
      }
    },
    get refused() {
      return refused
    },
    get left() {
      return drain !== undefined
    },
    firstByte() {
      firstByteMs ??= performance.now() - startedAt
    },
    finish(status, error) {
      answered()
      watchdog.stop()
      const upstreamStatus = error?.details?.upstream_status
      return {
        provider: provider.id,
        providerType: provider.type,
        routeId: route.spec.id,
        upstreamModel: route.spec.upstreamModel,
        startedAt: admitted.dispatchedAt,
        status,
        latencyMs: performance.now() - startedAt,
        firstByteMs,
        upstreamStatus: typeof upstreamStatus === 'number' ? upstreamStatus : undefined,
        upstreamRequestId: admitted.heard.requestId,
        errorCode: error?.code,
        errorMessage: error?.message,
      }
    },
  }
}

/** The fault of a result of the wrong kind, which the caller's client could not read. */
const otherKind = {
  buffered: 'it answered a call for a stream with a whole body',
  stream: 'it answered a call for a whole body with a stream',
} as const

/** Starts the stream here, so that a failure to start fails the call. */
function opened({ events, billingModifiers, usageUnasked = false }: StreamResult): StreamResult {
  const iterator = events[Symbol.asyncIterator]()
  return {
    kind: 'stream',
    events: { [Symbol.asyncIterator]: () => iterator },
    usageUnasked,
    ...(billingModifiers && { billingModifiers }),
  }
}

/** Only a rough check, because the body is read and checked later. */
function isResult(value: unknown): value is ProviderResult {
  if (typeof value !== 'object' || value === null) return false
  const { kind, events } = value as Partial<Omit<StreamResult, 'kind'>> & { kind?: unknown }
  return (
    kind === 'buffered' ||
    (kind === 'stream' && typeof events?.[Symbol.asyncIterator] === 'function')
  )
}
