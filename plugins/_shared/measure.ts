import type { JsonValue } from 'model-gateway/plugin'

/** Number of values, or of characters, that are measured between two pauses. */
const VALUES = 2_000
const CHARS = 256 * 1_024

/** The size of a value as JSON in bytes. Pauses often, because large values take long. */
export function* measure(value: JsonValue): Generator<undefined, number> {
  let bytes = 0
  let effort = 0
  const waiting: Iterator<JsonValue | undefined>[] = [[value].values()]
  for (let values = waiting.at(-1); values !== undefined; values = waiting.at(-1)) {
    const { value: next, done } = values.next()
    if (done) {
      waiting.pop()
      continue
    }
    if (typeof next === 'string') {
      for (let at = 0; at < next.length; at += CHARS) {
        const part = next.slice(at, at + CHARS)
        bytes += Buffer.byteLength(JSON.stringify(part)) - 2
        effort += (part.length * VALUES) / CHARS
        if (effort >= VALUES) {
          effort = 0
          yield
        }
      }
      bytes += 2
    } else if (typeof next !== 'object' || next === null) {
      if (next !== undefined) bytes += String(next).length
    } else if (Array.isArray(next)) {
      bytes += 2 + Math.max(0, next.length - 1)
      waiting.push(next.values())
    } else {
      const keys = Object.keys(next).filter((key) => next[key] !== undefined)
      bytes += 2 + Math.max(0, keys.length - 1)
      for (const key of keys) bytes += Buffer.byteLength(JSON.stringify(key)) + 1
      waiting.push(keys.values().map((key) => next[key]))
      effort += keys.length
    }
    effort += 1
    if (effort >= VALUES) {
      effort = 0
      yield
    }
  }
  return bytes
}
