const BACKSLASH = 92
const COMMA = 44
export const QUOTE = 34
export const OPEN_BRACE = 123
export const CLOSE_BRACE = 125
export const OPEN_BRACKET = 91
export const CLOSE_BRACKET = 93

/**
 * Visits the members of the object, or the elements of the array, that begins at `at` in JSON text,
 * without parsing it. `start` is the start of the key, `from` and `to` enclose the value. The text
 * must be valid JSON.
 */
export function visitJson(
  text: string,
  at: number,
  visit: (key: string | number, from: number, to: number, start: number) => void,
): void {
  const open = text.charCodeAt(at)
  if (open !== OPEN_BRACE && open !== OPEN_BRACKET) return
  let cursor = skipSpace(text, at + 1)
  for (let index = 0; cursor < text.length; index++) {
    const code = text.charCodeAt(cursor)
    if (code === CLOSE_BRACE || code === CLOSE_BRACKET) return
    const start = cursor
    let key: string | number = index
    if (open === OPEN_BRACE) {
      const keyEnd = stringEnd(text, cursor)
      key = readString(text, cursor, keyEnd)
      // Skips the colon.
      cursor = skipSpace(text, skipSpace(text, keyEnd) + 1)
    }
    const end = valueEnd(text, cursor)
    visit(key, cursor, end, start)
    cursor = skipSpace(text, end)
    if (text.charCodeAt(cursor) === COMMA) cursor = skipSpace(text, cursor + 1)
  }
}

/** A key, its escapes resolved: `"mod\u0065l"` is `model` to every parser. */
function readString(text: string, from: number, to: number): string {
  const body = text.slice(from + 1, to - 1)
  return body.includes('\\') ? (JSON.parse(text.slice(from, to)) as string) : body
}

function valueEnd(text: string, at: number): number {
  const first = text.charCodeAt(at)
  if (first === QUOTE) return stringEnd(text, at)
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return containerEnd(text, at)
  let end = at + 1
  while (end < text.length && !endsScalar(text.charCodeAt(end))) end++
  return end
}

function containerEnd(text: string, at: number): number {
  let depth = 0
  for (let i = at; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = stringEnd(text, i) - 1
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
    else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return i + 1
  }
  return text.length
}

/** The end of the string that begins at `at`, after its closing quote. */
export function stringEnd(text: string, at: number): number {
  for (let quote = at; ; ) {
    quote = text.indexOf('"', quote + 1)
    if (quote === -1) return text.length
    let before = quote - 1
    while (text.charCodeAt(before) === BACKSLASH) before--
    // An odd number of backslashes escapes the quote.
    if ((quote - before) % 2 === 1) return quote + 1
  }
}

/** The index of the first non-whitespace character from `at`. */
export function skipSpace(text: string, at: number): number {
  let i = at
  while (isSpace(text.charCodeAt(i))) i++
  return i
}

function endsScalar(code: number): boolean {
  return code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || isSpace(code)
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9
}
