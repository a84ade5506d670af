import type { SentResponse } from 'model-gateway/observer'
import type { JsonValue } from 'model-gateway/plugin'

const SAMPLES = 8
const MOST_LEVELS = 6

/** Estimates the characters that a value keeps in memory; samples a few elements of long lists. */
export function roughSize(value: JsonValue | undefined, level = 0): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 8
  if (level === MOST_LEVELS) return 64
  let size = 16
  if (Array.isArray(value)) {
    const step = Math.max(1, value.length / SAMPLES)
    for (let at = 0; at < value.length; at += step) {
      size += step * roughSize(value[Math.floor(at)], level + 1)
    }
    return size
  }
  for (const key in value) size += key.length + roughSize(value[key], level + 1)
  return size
}

export function roughResponseSize(response: SentResponse): number {
  if (response.kind === 'buffered') return roughSize(response.body)
  // An event may hold its text, its data and the parsed data.
  return response.events.reduce((size, event) => size + 3 * event.data.length, 0)
}
