import { isJsonObject, type JsonValue } from 'model-gateway/plugin'
import { OverCap, spend } from './work.ts'

/** Deeper than any tool's arguments; limited, because readers may recurse. */
const mostLevels = 64

/** Pays for reading a value, and throws OverCap if it is nested too deeply. */
export function payForJson(value: JsonValue | undefined): void {
  let level: readonly (JsonValue | undefined)[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > mostLevels) throw new OverCap('too_deep')
    spend(4 * level.length)
    level = level.flatMap((each) =>
      Array.isArray(each) ? each : isJsonObject(each) ? Object.values(each) : [],
    )
  }
}

/** Parses JSON; `undefined` for other text. */
export function parseJson(text: string): JsonValue | undefined {
  spend(text.length >> 2)
  let value: JsonValue
  try {
    value = JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
  payForJson(value)
  return value
}

/** An object or list that is written as text, as in `body: '{"archived":true}'`. */
export function readBody(text: string): JsonValue | undefined {
  return /^\s*[{[]/.test(text) ? parseJson(text) : undefined
}

/** An argument as read by servers that parse such text. */
export function unwrapped(value: JsonValue): JsonValue {
  return typeof value === 'string' ? (readBody(value) ?? value) : value
}
