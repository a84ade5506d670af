import type { Reply } from '../harness/upstream.ts'

/** Numbers from 0 to 1, the same ones for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Longest piece that a stream is cut into. */
const LONGEST = 200

/** These bytes in pieces of random lengths: most are short, and all come together again. */
export function randomPieces(bytes: Uint8Array, random: () => number): Uint8Array[] {
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + Math.floor(random() ** 3 * LONGEST)
    pieces.push(bytes.subarray(at, at + size))
    at += size
  }
  return pieces
}

/** The same reply, its stream cut where chance has it: in an event, a line, a character. */
export function rechunked(reply: Reply, random: () => number): Reply {
  return (x) => {
    const written: Uint8Array[] = []
    return reply({
      ...x,
      async write(data) {
        written.push(typeof data === 'string' ? Buffer.from(data) : data)
      },
      async end() {
        for (const piece of randomPieces(Buffer.concat(written), random)) {
          if (x.gone.aborted) return
          await x.write(piece)
        }
        await x.end()
      },
    })
  }
}
