import type {
  GatewayError,
  PartialStream,
  SpendWatch,
  StreamEvent,
  Usage,
} from '../plugin/index.ts'
import { inputTexts } from '../wire/model-text.ts'
import type { Admitted, LifecycleServices } from './exchange.ts'
import { dispatchedCall, requestLimits } from './settle.ts'

/** Events are kept unparsed up to this many UTF-16 units. */
const MOST_PENDING = 16_384
/** For longer texts only the length is kept. */
const MOST_TEXT = 262_144
/** A running stream is measured this often, or when the pending limit is reached. */
const LOOK_EVERY_MS = 1000

/** Measures what a stream has used, with or without counters from the upstream. */
export interface StreamMeter {
  /**
   * Adds events of the upstream and the counters after them. Returns the error that ends the stream
   * if it has used up a hard limit.
   */
  take(events: readonly StreamEvent[], usage: Usage | undefined): GatewayError | undefined
  /** What must be estimated if the stream ends now. */
  partial(doubt: string): PartialStream
}

/**
 * Most streams end with counters, and then the kept events are never read. So events are kept
 * unparsed, and parsed only when there are many or the stream ends early.
 */
export function createStreamMeter(
  admitted: Admitted,
  services: LifecycleServices,
  billingModifiers: readonly string[] | undefined,
): StreamMeter {
  const { way, call, requestId } = admitted
  const { textOf = () => '' } = way.dialect.streaming ?? {}
  let watch = startWatch(admitted, services, billingModifiers)
  let lookAt = watch === undefined ? Number.POSITIVE_INFINITY : performance.now() + LOOK_EVERY_MS
  let pending: string[] = []
  let pendingLength = 0
  let output = ''
  let moreOutputBytes = 0
  let counted: Usage | undefined
  /** Whether text came before the counters; otherwise `earlier` decides, read on demand. */
  let continues = false
  let earlier: readonly string[] = []
  let inputs: readonly string[] | undefined
  /** The request is read once, when the stream is first measured. */
  function input(): readonly string[] {
    inputs ??= inputTexts(call.body)
    return inputs
  }

  function readPending(): void {
    for (const data of pending) {
      const text = textOf(data)
      if (text === '') continue
      const room = MOST_TEXT - output.length
      output += text.slice(0, room)
      if (text.length > room) moreOutputBytes += Buffer.byteLength(text.slice(Math.max(0, room)))
    }
    pending = []
    pendingLength = 0
  }

  function readEarlier(): void {
    continues ||= earlier.some((data) => textOf(data) !== '')
    earlier = []
  }

  /** The counters include everything so far. */
  function restart(): void {
    readEarlier()
    continues ||= output !== ''
    if (!continues) earlier = pending
    pending = []
    pendingLength = 0
    output = ''
    moreOutputBytes = 0
  }

  function partial(doubt: string): PartialStream {
    readPending()
    readEarlier()
    return { doubt, input, output, moreOutputBytes, continues }
  }

  function look(): GatewayError | undefined {
    lookAt = performance.now() + LOOK_EVERY_MS
    try {
      return watch?.({
        usage: counted,
        request: requestLimits(admitted),
        partial: partial('running'),
      })
    } catch (error) {
      services.fault('a running stream could not be measured', error, requestId)
      watch = undefined
      lookAt = Number.POSITIVE_INFINITY
      return undefined
    }
  }

  return {
    take(events, usage) {
      for (const { data } of events) {
        pending.push(data)
        pendingLength += data.length
      }
      const isFull = pendingLength > MOST_PENDING
      // Some upstreams repeat counters that do not include the latest output.
      const hasGrown = Boolean(usage?.output) && usage?.output !== counted?.output
      counted = usage
      if (hasGrown) restart()
      else if (isFull) readPending()
      if (watch === undefined) return undefined
      return isFull || performance.now() >= lookAt ? look() : undefined
    },
    partial,
  }
}

function startWatch(
  admitted: Admitted,
  services: LifecycleServices,
  billingModifiers: readonly string[] | undefined,
): SpendWatch | undefined {
  if (admitted.surface.priced === false) return undefined
  try {
    return services.accounting.watch?.(dispatchedCall(admitted, billingModifiers))
  } catch (error) {
    services.fault('a running stream could not be measured', error, admitted.requestId)
    return undefined
  }
}
