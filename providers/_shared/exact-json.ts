import type { JsonObject } from 'model-gateway/plugin'

/** Integers with fewer digits are never rounded. */
const MANY_DIGITS = /\d{16}/

/**
 * Parses JSON text. Integers that JavaScript would round stay as they were written, and
 * `JSON.stringify` writes them so: what tools are called with are often ids. Throws SyntaxError.
 */
export function parseExact(text: string): unknown {
  return MANY_DIGITS.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text)
}

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source ?? ''
  const rounded = typeof value === 'number' && !Number.isSafeInteger(value)
  return rounded && /^-?\d+$/.test(source) ? JSON.rawJSON(source) : value
}

/** A reply with the integers of its text, where it has its text. */
export function exactReply(reply: {
  readonly body: JsonObject
  readonly rawBody?: string
}): JsonObject {
  const { body, rawBody } = reply
  const mayDiffer = rawBody !== undefined && MANY_DIGITS.test(rawBody)
  return mayDiffer ? (parseExact(rawBody) as JsonObject) : body
}
