import type { JsonValue } from 'model-gateway/plugin'

/** An object or a list that is written as text, as in `body: '{"archived":true}'`. */
export function readBody(text: string): JsonValue | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

/** An argument as servers take it that parse such text where they expect more than text. */
export function unwrapped(value: JsonValue): JsonValue {
  return typeof value === 'string' ? (readBody(value) ?? value) : value
}
