import { LiveSet } from '../wire/live-set.ts'
import { KEEP_ALIVE } from '../wire/sse.ts'

/** An open stream, as its writer and the timer see it. */
export interface KeptStream {
  /** Ticks since something was sent; its writer sets it back. */
  quiet: number
  /** Its caller does not read what has been sent. */
  stalled: boolean
  /** Undefined until it is asked for something. */
  controller: { write(text: string): unknown; flush(): unknown } | undefined
  /** Where it stands among all of them; undefined before and after. */
  place: number | undefined
}

const TICKS = 15

/**
 * Sends a comment to streams that have been silent for `ms`, or up to a fifteenth less: clients and
 * proxies give up on a connection without a sign of life. One timer, and no closures, since each of
 * them would add a tenth to what a short stream costs.
 */
export function createKeepAlive(ms: number) {
  const streams = new LiveSet<KeptStream>()
  let ticking = false

  function tick() {
    for (const stream of streams) {
      if (stream.stalled || ++stream.quiet < TICKS) continue
      stream.quiet = 0
      stream.controller?.write(KEEP_ALIVE)
      stream.controller?.flush()
    }
  }

  return {
    add(stream: KeptStream) {
      stream.place = streams.add(stream)
      if (ticking) return
      ticking = true
      setInterval(tick, ms / TICKS).unref()
    },
    remove(stream: KeptStream) {
      if (stream.place !== undefined) streams.delete(stream.place)
      stream.place = undefined
    },
  }
}
