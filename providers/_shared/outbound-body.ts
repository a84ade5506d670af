import {
  type JsonObject,
  type JsonValue,
  type ProviderCall,
  skipSpace,
  visitJson,
} from 'model-gateway/plugin'

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
  let repeated = false
  visitJson(text, skipSpace(text, 0), (key, _, to, start) => {
    const name = String(key)
    repeated ||= seen.has(name)
    seen.add(name)
    if (!changes.has(name)) members.push(text.slice(start, to))
    else appendMember(members, name, changes.get(name))
  })
  if (repeated) return undefined
  for (const [name, value] of changes) if (!seen.has(name)) appendMember(members, name, value)
  return `{${members.join(',')}}`
}

function appendMember(members: string[], name: string, value: JsonValue | undefined): void {
  if (value !== undefined) members.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`)
}
