import { redactText } from './secret-text.ts'

const encoder = new TextEncoder()

/** `text` as Postgres can store it: without NUL characters and lone surrogates. */
export function storable(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed()
  return whole.includes('\0') ? whole.replaceAll('\0', '') : whole
}

/** The first `limit` UTF-16 units of `text`, without secrets, storable in Postgres. */
export function limitedText(text: string | undefined, limit: number): string | undefined {
  if (text === undefined) return undefined
  const clean = redactText(text.length > limit ? text.slice(0, limit + limit) : text)
  return storable(clean.length > limit ? clean.slice(0, limit) : clean)
}

/**
 * The part of `text` that fits into `limit` bytes of UTF-8, without secrets, storable in Postgres.
 */
export function limitedBytes(text: string | undefined, limit: number): string | undefined {
  if (text === undefined) return undefined
  const clean = redactText(text.length > limit ? text.slice(0, limit + limit) : text)
  // A UTF-16 unit takes at most three bytes.
  if (clean.length * 3 <= limit) return storable(clean)
  const { read } = encoder.encodeInto(clean, new Uint8Array(limit))
  return storable(read < clean.length ? clean.slice(0, read) : clean)
}

/** JSON text, as from JSON.stringify, whose strings Postgres can store. */
export function storableJson(json: string): string {
  if (!json.includes('\\u')) return json
  // Only lone surrogates are escaped.
  return json.replace(/\\\\|\\u0000|\\ud[89a-f][\da-f]{2}/g, (found) =>
    found === '\\\\' ? found : found === '\\u0000' ? '' : '\\ufffd',
  )
}

/** A truncated text without a lone surrogate at its end. */
export function wholeCharacters(text: string): string {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text
}

const MAX_TEXT = 512

/** A text that Postgres refuses would fail the whole batch: no NUL, no lone surrogate. */
export function safeText(text: string): string {
  return storable(text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) : text)
}
