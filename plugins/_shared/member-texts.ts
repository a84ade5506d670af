import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { GuardTexts } from 'model-gateway/surface'

/** Members with images and other files, by URL or data. */
const FILES: ReadonlySet<string> = new Set([
  ...['image', 'image_url', 'image_base64', 'url', 'video', 'audio', 'data', 'type', 'id'],
])

/**
 * All texts in these members of a body, at any depth, for guards to check and replace; with
 * `within`, only those members of nested objects.
 */
export function memberTexts(
  body: JsonObject,
  names: readonly string[],
  within?: readonly string[],
): GuardTexts {
  const isRead = (name: string) => within?.includes(name) ?? !FILES.has(name)
  const segments: string[] = []
  inMembers(body, names, isRead, (text) => {
    segments.push(text)
    return text
  })
  return {
    segments,
    replace(others) {
      let at = 0
      return inMembers(body, names, isRead, (text) => others[at++] ?? text)
    },
  }
}

type Map = (text: string) => string
type IsRead = (name: string) => boolean

function inMembers(
  body: JsonObject,
  names: readonly string[],
  isRead: IsRead,
  map: Map,
): JsonObject {
  let changed: JsonObject | undefined
  for (const name of names) {
    const member = body[name]
    if (member === undefined) continue
    const mapped = mapTexts(member, isRead, map)
    if (mapped !== member) changed = { ...(changed ?? body), [name]: mapped }
  }
  return changed ?? body
}

/** Copies only changed values. Empty texts are not segments. */
function mapTexts(value: JsonValue, isRead: IsRead, map: Map): JsonValue {
  if (typeof value === 'string') return value === '' ? value : map(value)
  if (Array.isArray(value)) {
    const mapped = value.map((each) => mapTexts(each, isRead, map))
    return mapped.every((each, at) => each === value[at]) ? value : mapped
  }
  if (!isJsonObject(value)) return value
  let copy: JsonObject | undefined
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined || !isRead(name)) continue
    const mapped = mapTexts(member, isRead, map)
    if (mapped !== member) copy = { ...(copy ?? value), [name]: mapped }
  }
  return copy ?? value
}
