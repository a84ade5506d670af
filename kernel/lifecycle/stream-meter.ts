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

/** Events wait as they came until there are so many UTF-16 units of them. */
const MOST_PENDING = 16_384
/** Of longer texts only the length is kept. */
const MOST_TEXT = 262_144
/** A running stream is looked at this often, or when as much as may be pending has come. */
const LOOK_EVERY_MS = 1000

/** Knows what a stream has used so far, whether its upstream counts tokens or not. */
export interface StreamMeter {
  /**
   * Takes events of the upstream, and its counters after them. Returns the error that ends the stream
   * when it has used up a hard limit.
   */
  take(events: readonly StreamEvent[], usage: Usage | undefined): GatewayError | undefined
  /** What has to be estimated when the stream ends here. */
  partial(doubt: string): PartialStream
}

/**
 * Most streams end with counters, and then nothing that was kept is read: so events are kept as they
 * came, and read when there are many, or when the stream ends early.
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
  /** There was text before the counters; else it may be in `earlier`, which is read when asked. */
  let continues = false
  let earlier: readonly string[] = []
  let inputs: readonly string[] | undefined
  /** A stream that is looked at reads its request once. */
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

  /** What has been said by now is in the counters. */
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
      // Some upstreams repeat counters that leave out what was said since the last ones.
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
