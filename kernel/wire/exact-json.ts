import type { JsonValue } from '../plugin/json.ts'

/** Integers with fewer digits are exact. */
const MANY_DIGITS = /\d{16}/

/** Whether JSON text may contain integers that JavaScript would round. */
export function mayBeRounded(text: string): boolean {
  return MANY_DIGITS.test(text)
}

/**
 * Parses JSON text and keeps integers that JavaScript would round: `JSON.stringify` writes them
 * unchanged, because tool arguments are often ids. `JSON.isRawJSON` tells them from objects, as
 * `isJsonObject` does. Throws SyntaxError.
 */
export function parseExact(text: string): JsonValue {
  return (mayBeRounded(text) ? JSON.parse(text, keepDigits) : JSON.parse(text)) as JsonValue
}

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source ?? ''
  const rounded = typeof value === 'number' && !Number.isSafeInteger(value)
  return rounded && /^-?\d+$/.test(source) ? JSON.rawJSON(source) : value
}
