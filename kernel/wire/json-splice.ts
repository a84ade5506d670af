import type { JsonObject, JsonValue } from '../plugin/json.ts'
import { OPEN_BRACE, skipSpace, visitJson } from './json-text.ts'

type Edit = readonly [from: number, to: number, text: string]

/**
 * Sets members of the object at `path` in JSON text; all other bytes are kept. A missing member
 * becomes the first one. A duplicate key is set each time, because parsers differ on which one
 * counts. The text must be valid JSON; without an object at `path` it is returned unchanged.
 */
export function setMembers(
  text: string,
  members: Readonly<JsonObject>,
  path: readonly (string | number)[] = [],
): string {
  const edits: Edit[] = []
  for (const at of objectsAt(text, path)) {
    const own: Edit[] = []
    const missing = new Set(Object.keys(members))
    let empty = true
    visitJson(text, at, (key, from, to) => {
      empty = false
      if (typeof key !== 'string' || !Object.hasOwn(members, key)) return
      own.push([from, to, JSON.stringify(members[key])])
      missing.delete(key)
    })
    if (missing.size > 0) {
      const added = [...missing].map((k) => `${JSON.stringify(k)}:${JSON.stringify(members[k])}`)
      edits.push([at + 1, at + 1, added.join(',') + (empty ? '' : ',')])
    }
    edits.push(...own)
  }
  let out = ''
  let done = 0
  for (const [from, to, replacement] of edits) {
    out += text.slice(done, from) + replacement
    done = to
  }
  return edits.length === 0 ? text : out + text.slice(done)
}

/**
 * Sets the top-level `model`, whose value is `current`. Nearly always a search finds it without
 * reading the rest: only the outermost brace opens before it, and it occurs once, in one spelling.
 */
export function setModel(text: string, current: JsonValue | undefined, model: string): string {
  if (typeof current === 'string') {
    const member = `"model":${JSON.stringify(current)}`
    const at = text.indexOf(member)
    const certain =
      at > 0 &&
      text.lastIndexOf('{', at) === 0 &&
      !text.includes('"model"', at + member.length) &&
      !text.includes('\\u')
    if (certain) {
      return `${text.slice(0, at)}"model":${JSON.stringify(model)}${text.slice(at + member.length)}`
    }
  }
  return setMembers(text, { model })
}

/** Start positions of the objects at `path`, in order; several if keys on the path repeat. */
function objectsAt(text: string, path: readonly (string | number)[]): number[] {
  let found = [skipSpace(text, 0)]
  for (const step of path) {
    const children: number[] = []
    for (const at of found) {
      visitJson(text, at, (key, from) => {
        if (key === step) children.push(from)
      })
    }
    found = children
  }
  return found.filter((at) => text.charCodeAt(at) === OPEN_BRACE)
}
