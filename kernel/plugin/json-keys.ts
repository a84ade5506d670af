import { isJsonObject, type JsonValue } from './json.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipSpace,
  stringEnd,
} from './json-text.ts'

const COLON = 58

/**
 * Whether an object has a key twice, at any depth of the value that begins at `at` in JSON text:
 * parsers do not agree on which one counts. `value` is what ours has made of it, with fewer members
 * than the text has then.
 */
export function repeatsKey(text: string, at: number, value: JsonValue): boolean {
  return membersInText(text, at) !== membersOf(value)
}

/** Members of all objects in a value of a valid JSON text: as many as there are colons. */
function membersInText(text: string, at: number): number {
  let members = 0
  let depth = 0
  for (let i = skipSpace(text, at); i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = stringEnd(text, i) - 1
    else if (code === COLON) members++
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--
    if (depth === 0) break
  }
  return members
}

/** Without recursion: a caller may nest as deeply as a body is long. */
function membersOf(value: JsonValue): number {
  let members = 0
  const left: JsonValue[] = [value]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (Array.isArray(next)) {
      for (const item of next) if (typeof item === 'object') left.push(item)
    } else if (isJsonObject(next)) {
      for (const key in next) {
        members++
        const member = next[key]
        if (typeof member === 'object') left.push(member)
      }
    }
  }
  return members
}
