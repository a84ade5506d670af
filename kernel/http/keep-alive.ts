import { LiveSet } from '../wire/live-set.ts'

/** An open stream, shared by its writer and the timer. */
export interface KeptStream {
  /** Ticks since the last write; the writer resets it. */
  quiet: number
  /** Whether anything has been sent yet; the first write also sends the headers. */
  begun: boolean
  /** The keep-alive text of the surface. */
  readonly sign: string
  /** The caller does not read what was sent. */
  stalled: boolean
  /** Undefined until the first read. */
  controller: { write(text: string): unknown; flush(): unknown } | undefined
  /** Its position in the list; undefined before and after. */
  place: number | undefined
}

const TICKS = 60
/** An empty SSE comment, which makes the headers leave. */
const BEGINNING = ':\n\n'

/**
 * Sends the headers of streams that have no data yet, and a keep-alive to those silent for `ms`, up
 * to a sixtieth of it early or late, because clients and proxies close silent connections. Uses one
 * timer and no closures, since each closure would add a tenth to the cost of a short stream.
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
