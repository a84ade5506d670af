import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { unwrapped } from './json-text.ts'
import { identityWords } from './tool-identity.ts'
import { textKeys, wrapperKeys } from './tool-tables.ts'
import { spend } from './work.ts'

/** One argument of a call, in any wrapper. */
export interface Field {
  /** The words of its name. */
  readonly words: readonly string[]
  /** Those joined by `_`. */
  readonly key: string
  readonly value: JsonValue
}

/** Maximum nesting of wrappers. */
const DEEPEST = 4

const known = new WeakMap<JsonObject, readonly Field[]>()

/** The arguments of a call, including those in `input`, `params` and similar, also as JSON text. */
export function fieldsOf(given: JsonObject): readonly Field[] {
  const before = known.get(given)
  if (before !== undefined) return before
  const fields: Field[] = []
  gather(given, fields, 0)
  known.set(given, fields)
  return fields
}

function gather(given: JsonObject, fields: Field[], depth: number): void {
  for (const [name, written] of Object.entries(given)) {
    if (written === undefined) continue
    spend(8 + (name.length >> 1))
    const words = identityWords(name)
    const key = words.join('_')
    const value = wrapperKeys.has(key) ? unwrapped(written) : written
    fields.push({ words, key, value })
    if (!wrapperKeys.has(key) || depth >= DEEPEST) continue
    if (isJsonObject(value)) gather(value, fields, depth + 1)
    else if (Array.isArray(value))
      for (const each of value) if (isJsonObject(each)) gather(each, fields, depth + 1)
  }
}

/** The text of the first field with a key in the set. */
export function textOf(fields: readonly Field[], keys: ReadonlySet<string>): string | undefined {
  return fields
    .filter(({ key }) => keys.has(key))
    .map(({ value }) => value)
    .find((value): value is string => typeof value === 'string' && value !== '')
}

/** Whether a switch with any of these names is on. */
export function isOn(fields: readonly Field[], ...keys: readonly string[]): boolean {
  return fields.some(
    ({ key, value }) => keys.includes(key) && (value === true || value === 'true' || value === 1),
  )
}

/** A list of texts; undefined for other values. */
export function listOf(value: JsonValue): readonly string[] | undefined {
  const list = unwrapped(value)
  if (!Array.isArray(list)) return undefined
  return list.map((each) => {
    if (typeof each === 'string') return each
    return isJsonObject(each) ? (textIn(each) ?? '') : String(each)
  })
}

/** The text of `{ text: 'ls' }`. */
export function textIn(value: JsonObject): string | undefined {
  const texts = Object.entries(value).filter(([name]) => textKeys.has(name.toLowerCase()))
  for (const [, text] of texts) {
    if (typeof text === 'string') return text
    if (isJsonObject(text)) return textIn(text)
    const list = text === undefined ? undefined : listOf(text)
    if (list !== undefined) return list.join(' ')
  }
  return undefined
}
