import type { JsonObject, JsonValue, ProviderCall } from 'model-gateway/plugin'

/**
 * The body of a call with changes to its top-level members laid over it. The caller's body stays as
 * it is.
 */
export interface OutboundBody {
  get(name: string): JsonValue | undefined
  set(name: string, value: JsonValue): void
  remove(name: string): void
  /** The body as JSON text. Members that no change names keep the caller's very spelling. */
  text(): string
}

export function outboundBody(call: Pick<ProviderCall, 'body' | 'rawBody'>): OutboundBody {
  const { body, rawBody } = call
  const changes = new Map<string, JsonValue | undefined>()
  return {
    get: (name) => (changes.has(name) ? changes.get(name) : body[name]),
    set(name, value) {
      changes.set(name, value)
    },
    remove(name) {
      changes.set(name, undefined)
    },
    text() {
      const edited = rawBody === undefined ? undefined : editMembers(rawBody, changes)
      return edited ?? JSON.stringify(Object.fromEntries([...Object.entries(body), ...changes]))
    },
  }
}

/** `stream` is the gateway's word, also when the caller's body does not have it. */
export function setStream(body: OutboundBody, stream: boolean): void {
  if ((body.get('stream') === true) !== stream) body.set('stream', stream)
}

/** The operator's last word: a top-level key replaces. */
export function mergeExtraBody(body: OutboundBody, extraBody: Readonly<JsonObject>): void {
  for (const [name, value] of Object.entries(extraBody)) {
    if (value !== undefined) body.set(name, value)
  }
}

/**
 * The text of a JSON object with top-level members replaced, appended or, where the change is
 * `undefined`, left out. All else is copied, so that integers above 2⁵³ survive. `text` must be
 * valid. `undefined` when a top-level name occurs twice: parsers differ in which one they take,
 * and the upstream must not read another value than the one that was checked here.
 */
export function editMembers(
  text: string,
  changes: ReadonlyMap<string, JsonValue | undefined>,
): string | undefined {
  const members: string[] = []
  const seen = new Set<string>()
  let at = skipSpace(text, skipSpace(text, 0) + 1)
  while (text.charCodeAt(at) !== CLOSE_OBJECT) {
    const nameEnd = skipString(text, at)
    const name = JSON.parse(text.slice(at, nameEnd)) as string
    if (seen.has(name)) return undefined
    seen.add(name)
    const valueStart = skipSpace(text, skipSpace(text, nameEnd) + 1)
    const valueEnd = skipValue(text, valueStart)
    if (!changes.has(name)) members.push(text.slice(at, valueEnd))
    else appendMember(members, name, changes.get(name))
    at = skipSpace(text, valueEnd)
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
  }
  for (const [name, value] of changes) if (!seen.has(name)) appendMember(members, name, value)
  return `{${members.join(',')}}`
}

const QUOTE = 34
const COMMA = 44
const OPEN_ARRAY = 91
const BACKSLASH = 92
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

function appendMember(members: string[], name: string, value: JsonValue | undefined): void {
  if (value !== undefined) members.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`)
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

/** The index after the string that starts at `from`. */
function skipString(text: string, from: number): number {
  let quote = from
  for (;;) {
    quote = text.indexOf('"', quote + 1)
    let before = quote - 1
    while (text.charCodeAt(before) === BACKSLASH) before--
    if ((quote - before) % 2 === 1) return quote + 1
  }
}

/** The index after the value that starts at `from`. */
function skipValue(text: string, from: number): number {
  let at = from
  let depth = 0
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = skipString(text, at)
    else {
      if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth++
      else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth--
      at++
    }
    if (depth > 0) continue
    if (code === QUOTE || code === CLOSE_OBJECT || code === CLOSE_ARRAY) return at
    const next = text.charCodeAt(at)
    if (next === COMMA || next === CLOSE_OBJECT || isSpace(next)) return at
  }
}
