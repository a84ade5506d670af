import type { SqlReading, SqlToken } from './sql-tokens.ts'

/** A string, or a name in quotes. */
interface Quote {
  readonly token: SqlToken
  readonly end: number
  /** Whether the preceding word belongs to it. */
  readonly prefix: boolean
}

/** `undefined` if it is not closed. */
export function readQuote(
  text: string,
  start: number,
  reading: SqlReading,
  before: SqlToken | undefined,
): Quote | undefined {
  const open = text.charAt(start)
  const close = open === '[' ? ']' : open
  const previous = before?.kind === 'word' ? text.slice(start - before.text.length, start) : ''
  const isString = open === "'" || (open === '"' && reading.backslash)
  const prefix =
    isString &&
    before?.kind === 'word' &&
    previous.toUpperCase() === before.text &&
    /^[ENBXR]$/.test(before.text)
  const escapes = isString && (reading.backslash || (prefix && before?.text === 'E'))
  let value = ''
  let escaped = false
  let from = start + 1
  for (let at = from; at < text.length; at += 1) {
    const here = text.charAt(at)
    if (here === '\\' && escapes) {
      escaped = true
      at += 1
    } else if (here === close) {
      value += text.slice(from, at)
      if (text.charAt(at + 1) !== close) {
        const kind = isString ? 'string' : 'name'
        return { token: { kind, text: value, escaped }, end: at + 1, prefix }
      }
      value += close
      at += 1
      from = at + 1
    }
  }
  return undefined
}
