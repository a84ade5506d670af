import type { JsonValue } from './json.ts'

const QUOTE = 34
const OPEN_BRACKET = 91
const BACKSLASH = 92
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

/**
 * How deep arrays and objects of a caller's JSON may stand in each other: far deeper than any
 * schema, and no trouble for code that walks a value with recursion.
 */
export const DEEPEST_JSON = 200

/** Whether JSON text nests deeper than `DEEPEST_JSON`, read without parsing it. */
export function nestsTooDeep(text: string): boolean {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = closingQuote(text, i)
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > DEEPEST_JSON) return true
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--
  }
  return false
}

/** The same of a value. To write one that nests far too deep would take seconds, and then fail. */
export function isTooDeep(value: JsonValue | undefined, levels = DEEPEST_JSON): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  return Object.values(value).some((member) => isTooDeep(member, levels - 1))
}

/** Where the string that begins at `open` ends; the text's end when it does not. */
function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = at
    while (text.charCodeAt(escapes - 1) === BACKSLASH) escapes--
    if ((at - escapes) % 2 === 0) return at
  }
  return text.length
}
