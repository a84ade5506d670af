import { LiveSet } from '../wire/live-set.ts'

/** An open stream, as its writer and the timer see it. */
export interface KeptStream {
  /** Ticks since something was sent; its writer sets it back. */
  quiet: number
  /** Whether anything has been sent yet: the headers leave with it. */
  begun: boolean
  /** What tells its caller that it lives. */
  readonly sign: string
  /** Its caller does not read what has been sent. */
  stalled: boolean
  /** Undefined until it is asked for something. */
  controller: { write(text: string): unknown; flush(): unknown } | undefined
  /** Where it stands among all of them; undefined before and after. */
  place: number | undefined
}

const TICKS = 60
/** Takes the headers with it; means nothing. */
const BEGINNING = ':\n\n'

/**
 * Sends the headers of streams that have nothing to send yet, and a sign of life to those that have been
 * silent for `ms`, each up to a sixtieth of it too late or too early: clients and
 * proxies give up on a connection without a sign of life. One timer, and no closures, since each of
 * them would add a tenth to what a short stream costs.
 */
export function createKeepAlive(ms: number) {
  const streams = new LiveSet<KeptStream>()
  let ticking = false

  function tick() {
    for (const stream of streams) {
      if (stream.stalled) continue
      const sign = stream.begun ? stream.sign : BEGINNING
      if (stream.begun && ++stream.quiet < TICKS) continue
      stream.begun = true
      stream.quiet = 0
      stream.controller?.write(sign)
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
