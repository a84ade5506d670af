import type { ReplyStream } from '../lifecycle/exchange.ts'
import { KEEP_ALIVE } from '../wire/sse.ts'
import { createKeepAlive, type KeptStream } from './keep-alive.ts'

/** The longest idle timeout that Bun supports, in seconds. */
export const MAX_IDLE_SECS = 255

export interface StreamCare {
  /** How long a caller may leave pending data unread before it counts as gone. */
  readonly stalledSecs: number
  /** How long the connection stays open for the next request. */
  readonly keptSecs: number
  readonly keepAlive: ReturnType<typeof createKeepAlive>
}

const usualCare: StreamCare = {
  stalledSecs: 60,
  keptSecs: MAX_IDLE_SECS,
  keepAlive: createKeepAlive(15_000),
}

/** Sends an event stream. `sign`: keep-alive text. `limitIdle`: sets the idle limit in seconds. */
export function streamResponse(
  stream: ReplyStream,
  names: Readonly<Record<string, string>>,
  limitIdle: (seconds: number) => void,
  sign = KEEP_ALIVE,
  { stalledSecs, keptSecs, keepAlive } = usualCare,
): Response {
  let left = false
  const kept: KeptStream = {
    quiet: 0,
    begun: false,
    stalled: false,
    controller: undefined,
    place: undefined,
    sign,
  }
  // Writing directly costs a tenth less than a queue that the engine drains.
  const source: Bun.DirectUnderlyingSource<Uint8Array> = {
    type: 'direct',
    async pull(controller) {
      kept.controller = controller
      keepAlive.add(kept)
      for (
        let text = await stream.next();
        text !== undefined && !left;
        text = await stream.next()
      ) {
        const taken = controller.write(text)
        controller.flush()
        kept.quiet = 0
        kept.begun = true
        // A promise if the caller reads too slowly, which bounds the pending data.
        if (typeof taken !== 'number') {
          kept.stalled = true
          limitIdle(stalledSecs)
          await taken
          limitIdle(0)
          kept.stalled = false
        }
        if (left) break
      }
      keepAlive.remove(kept)
      if (!left) limitIdle(keptSecs)
      controller.close()
    },
    cancel() {
      if (left) return
      left = true
      keepAlive.remove(kept)
      stream.cancel()
    },
  }
  // `never`, because the types of the DOM, which the browser tests use, do not have this kind.
  const body = new ReadableStream(source as never)
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      ...names,
    },
  })
}
