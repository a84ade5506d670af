import { redactText } from './secret-text.ts'

const encoder = new TextEncoder()

/** `text` as Postgres can hold it: without NUL characters and halves of characters. */
export function storable(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed()
  return whole.includes('\0') ? whole.replaceAll('\0', '') : whole
}

/** The first `limit` UTF-16 units of `text`, without secrets, made storable. */
export function limitedText(text: string | undefined, limit: number): string | undefined {
  if (text === undefined) return undefined
  const clean = redactText(text.length > limit ? text.slice(0, limit + limit) : text)
  return storable(clean.length > limit ? clean.slice(0, limit) : clean)
}

/** The part of `text` that fits into `limit` bytes of UTF-8, without secrets, made storable. */
export function limitedBytes(text: string | undefined, limit: number): string | undefined {
  if (text === undefined) return undefined
  const clean = redactText(text.length > limit ? text.slice(0, limit + limit) : text)
  // A UTF-16 unit takes three bytes at most.
  if (clean.length * 3 <= limit) return storable(clean)
  const { read } = encoder.encodeInto(clean, new Uint8Array(limit))
  return storable(read < clean.length ? clean.slice(0, read) : clean)
}

/** JSON text, as JSON.stringify makes it, whose strings Postgres can hold. */
export function storableJson(json: string): string {
  if (!json.includes('\\u')) return json
  // A lone surrogate is the only one that is escaped.
  return json.replace(/\\\\|\\u0000|\\ud[89a-f][\da-f]{2}/g, (found) =>
    found === '\\\\' ? found : found === '\\u0000' ? '' : '\\ufffd',
  )
}

/** A cut text without the half of a character that may stand at its end. */
export function wholeCharacters(text: string): string {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text
}

const MAX_TEXT = 512

/** One text that Postgres refuses would make the whole batch fail: no NUL, no half character. */
export function safeText(text: string): string {
  return storable(text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) : text)
}
