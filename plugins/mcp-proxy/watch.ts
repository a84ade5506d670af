import { GatewayError } from 'model-gateway/plugin'
import { LiveSet } from 'model-gateway/wire'

/** Tolerance of the timer in milliseconds, small compared with limits of seconds. */
const LOOK_MS = 50

/** Watches the time limits of one call and the disconnect of its caller. */
export interface McpWatch {
  /** Aborts the call to the server. */
  readonly upstream: AbortController
  hasLeft(): boolean
  /**
   * Sets the listener for the disconnect of the caller, called before the call is aborted. One at a
   * time.
   */
  whenLeft(listener: () => void): void
  /**
   * Sets a time limit: aborts the call with this error after `ms` unless it is removed. One at a
   * time.
   */
  limit(ms: number, error: () => Error): void
  lift(): void
  /** The caller no longer waits for the call. */
  stop(): void
}

/**
 * Starts watches. All share one timer, because most calls finish before its first tick and then
 * need neither their own timer nor the signal of their request.
 */
export function createWatches(): (callerLeft: () => AbortSignal) => McpWatch {
  const looks = new LiveSet<(now: number) => void>()
  let timer: ReturnType<typeof setInterval> | undefined

  function lookAtAll() {
    if (looks.size === 0) {
      clearInterval(timer)
      timer = undefined
      return
    }
    const now = performance.now()
    for (const look of looks) look(now)
  }

  return (callerLeft) => {
    const upstream = new AbortController()
    let signal: AbortSignal | undefined
    let listener: (() => void) | undefined
    let endsAt = Number.POSITIVE_INFINITY
    let late: (() => Error) | undefined

    function left() {
      stop()
      listener?.()
      upstream.abort(new GatewayError('upstream_transport', 'the caller disconnected'))
    }
    function look(now: number) {
      if (signal === undefined) {
        signal = callerLeft()
        if (signal.aborted) return left()
        signal.addEventListener('abort', left, { once: true })
      }
      if (now < endsAt) return
      endsAt = Number.POSITIVE_INFINITY
      upstream.abort(late?.())
    }
    function stop() {
      if (place !== undefined) looks.delete(place)
      place = undefined
      signal?.removeEventListener('abort', left)
    }

    let place: number | undefined = looks.add(look)
    timer ??= setInterval(lookAtAll, LOOK_MS)
    return {
      upstream,
      hasLeft: () => callerLeft().aborted,
      whenLeft(next) {
        listener = next
      },
      limit(ms, error) {
        endsAt = performance.now() + ms
        late = error
      },
      lift() {
        endsAt = Number.POSITIVE_INFINITY
      },
      stop,
    }
  }
}
