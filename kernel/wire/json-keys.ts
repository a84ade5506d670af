import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipSpace,
  stringEnd,
  visitJson,
} from './json-text.ts'
import { foldKey } from './key-case.ts'

const COLON = 58
/** As much of a key as an error quotes. */
const LONGEST_NAME = 64

/**
 * Whether an object has a key twice, at any depth of the value that begins at `at` in JSON text:
 * parsers do not agree on which one counts. `value` is what ours has made of it, with fewer members
 * than the text has then.
 */
export function repeatsKey(text: string, at: number, value: JsonValue): boolean {
  return membersInText(text, at) !== membersOf(value)
}

/** The first member that the object at `at` in JSON text has twice, itself and not further in. */
export function repeatedMember(text: string, at: number): string | undefined {
  const seen = new Set<string | number>()
  let repeated: string | undefined
  visitJson(text, skipSpace(text, at), (key) => {
    if (seen.has(key)) repeated ??= String(key).slice(0, LONGEST_NAME)
    seen.add(key)
  })
  return repeated
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

function membersOf(value: JsonValue): number {
  let members = 0
  for (const object of objectsIn(value)) for (const _ in object) members++
  return members
}

/**
 * A key that an object in the value, at any depth, has twice for parsers that ignore case: one of the
 * two as it is written. Undefined when there is none.
 */
export function keyInTwoCases(value: JsonValue): string | undefined {
  for (const object of objectsIn(value)) {
    const seen = new Set<string>()
    for (const key in object) {
      const folded = foldKey(key)
      if (seen.has(folded)) return key
      seen.add(folded)
    }
  }
  return undefined
}

/** All objects in a value. Without recursion: a caller may nest as deeply as a body is long. */
function* objectsIn(value: JsonValue): Generator<JsonObject> {
  const left: JsonValue[] = [value]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (isJsonObject(next)) yield next
    else if (!Array.isArray(next)) continue
    for (const member of Object.values(next)) {
      if (typeof member === 'object') left.push(member)
    }
  }
}
