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
/** Maximum length of a key in an error message. */
const LONGEST_NAME = 64

/**
 * Whether any object of the value that begins at `at` in JSON text has a duplicate key, because
 * parsers differ on which one counts. `value` is the parsed value, which then has fewer members
 * than the text.
 */
export function repeatsKey(text: string, at: number, value: JsonValue): boolean {
  return membersInText(text, at) !== membersOf(value)
}

/** The first duplicate key of the object at `at` in JSON text, not of nested objects. */
export function repeatedMember(text: string, at: number): string | undefined {
  const seen = new Set<string | number>()
  let repeated: string | undefined
  visitJson(text, skipSpace(text, at), (key) => {
    if (seen.has(key)) repeated ??= String(key).slice(0, LONGEST_NAME)
    seen.add(key)
  })
  return repeated
}

/** Counts the members of all objects in valid JSON text by their colons. */
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
 * Returns a key that parsers which ignore case see twice in an object of the value, at any depth,
 * in one of its spellings; else undefined.
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

/** Iterates over all objects in a value, without recursion, because callers choose the depth. */
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
