import type { JsonValue } from '../plugin/json.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  stringEnd,
} from './json-text.ts'

const COLON = 58

/** Maximum nesting of a caller's JSON: far deeper than any schema, and safe for recursive code. */
export const DEEPEST_JSON = 200

/** Whether JSON text nests deeper than `DEEPEST_JSON`; does not parse it. */
export function nestsTooDeep(text: string): boolean {
  return outermostMembers(text) === undefined
}

/**
 * Counts the members of the outermost object of JSON text, including duplicates, without parsing.
 * Undefined if the text nests deeper than `DEEPEST_JSON`.
 */
export function outermostMembers(text: string): number | undefined {
  let members = 0
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = stringEnd(text, i) - 1
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > DEEPEST_JSON) return undefined
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--
    else if (code === COLON && depth === 1) members++
  }
  return members
}

/** The same for a value, because serialising a very deep one takes seconds and then fails. */
export function isTooDeep(value: JsonValue | undefined, levels = DEEPEST_JSON): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  return Object.values(value).some((member) => isTooDeep(member, levels - 1))
}
