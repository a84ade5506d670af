import type { JsonObject, JsonValue } from '../plugin/json.ts'

const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const COMMA = 44

type Edit = readonly [from: number, to: number, text: string]

/**
 * Sets members of the object at `path` in JSON text; every byte outside the values that change
 * stays as it was. A missing member becomes the first one. A key that occurs several times is set
 * each time, because parsers differ in which of them counts. The text must be valid JSON; without
 * an object at `path` it is returned unchanged.
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
    eachChild(text, at, (key, from, to) => {
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
 * Sets the top-level `model`, whose value is known to be `current`. In nearly every text a search
 * finds it without reading the rest: nothing but the outermost brace opens before it, and it
 * stands there once, in no other spelling.
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

/** Where the objects at `path` begin, in order; more than one when keys on the way repeat. */
function objectsAt(text: string, path: readonly (string | number)[]): number[] {
  let found = [skipSpace(text, 0)]
  for (const step of path) {
    const children: number[] = []
    for (const at of found) {
      eachChild(text, at, (key, from) => {
        if (key === step) children.push(from)
      })
    }
    found = children
  }
  return found.filter((at) => text.charCodeAt(at) === OPEN_BRACE)
}

/** Visits the members of an object or the elements of an array that begins at `at`. */
function eachChild(
  text: string,
  at: number,
  visit: (key: string | number, from: number, to: number) => void,
): void {
  const open = text.charCodeAt(at)
  if (open !== OPEN_BRACE && open !== OPEN_BRACKET) return
  let cursor = skipSpace(text, at + 1)
  for (let index = 0; cursor < text.length; index++) {
    const code = text.charCodeAt(cursor)
    if (code === CLOSE_BRACE || code === CLOSE_BRACKET) return
    let key: string | number = index
    if (open === OPEN_BRACE) {
      const keyEnd = stringEnd(text, cursor)
      key = readString(text, cursor, keyEnd)
      // Over the colon.
      cursor = skipSpace(text, skipSpace(text, keyEnd) + 1)
    }
    const end = valueEnd(text, cursor)
    visit(key, cursor, end)
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

function stringEnd(text: string, at: number): number {
  for (let quote = at; ; ) {
    quote = text.indexOf('"', quote + 1)
    if (quote === -1) return text.length
    let before = quote - 1
    while (text.charCodeAt(before) === BACKSLASH) before--
    // An odd number of backslashes escapes the quote.
    if ((quote - before) % 2 === 1) return quote + 1
  }
}

function skipSpace(text: string, at: number): number {
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
