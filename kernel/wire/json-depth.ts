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

/**
 * How deep arrays and objects of a caller's JSON may stand in each other: far deeper than any
 * schema, and no trouble for code that walks a value with recursion.
 */
export const DEEPEST_JSON = 200

/** Whether JSON text nests deeper than `DEEPEST_JSON`, read without parsing it. */
export function nestsTooDeep(text: string): boolean {
  return outermostMembers(text) === undefined
}

/**
 * How many members the outermost object of a JSON text has, those that repeat a key included, read
 * without parsing it. Undefined when the text nests deeper than `DEEPEST_JSON`.
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

/** The same of a value. To write one that nests far too deep would take seconds, and then fail. */
export function isTooDeep(value: JsonValue | undefined, levels = DEEPEST_JSON): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  return Object.values(value).some((member) => isTooDeep(member, levels - 1))
}
