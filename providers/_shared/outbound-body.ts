import type { JsonObject, JsonValue, ProviderCall } from 'model-gateway/plugin'
import { foldKey, skipSpace, visitJson } from 'model-gateway/wire'
import { invalidRequest } from './invalid-request.ts'

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
  let folded: readonly (readonly [string, string])[] | undefined

  /** Throws where the caller's body has the member in another case, which an upstream may go by. */
  function change(name: string, value: JsonValue | undefined): void {
    folded ??= Object.keys(body).map((key) => [key, foldKey(key)])
    const wanted = foldKey(name)
    for (const [key, own] of folded) {
      if (own === wanted && key !== name) {
        throw invalidRequest(`${key}: the route sets ${name}; leave ${key} out`)
      }
    }
    changes.set(name, value)
  }
  return {
    get: (name) => (changes.has(name) ? changes.get(name) : body[name]),
    set: change,
    remove: (name) => change(name, undefined),
    text() {
      if (rawBody !== undefined) return editMembers(rawBody, changes)
      return JSON.stringify(Object.fromEntries([...Object.entries(body), ...changes]))
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
 * `undefined`, left out. All else is copied, so that integers above 2⁵³ survive.
 */
export function editMembers(
  text: string,
  changes: ReadonlyMap<string, JsonValue | undefined>,
): string {
  const changed: string[] = []
  let out = ''
  /** Where members stand that no change names, one after the other. */
  let from = -1
  let to = -1

  function add(piece: string): void {
    out += out === '' ? piece : `,${piece}`
  }
  function change(name: string): void {
    const value = changes.get(name)
    if (value !== undefined) add(`${JSON.stringify(name)}:${JSON.stringify(value)}`)
  }
  visitJson(text, skipSpace(text, 0), (key, _, end, start) => {
    const name = key as string
    if (!changes.has(name)) {
      if (from === -1) from = start
      to = end
      return
    }
    if (from !== -1) add(text.slice(from, to))
    from = -1
    changed.push(name)
    change(name)
  })
  if (from !== -1) add(text.slice(from, to))
  for (const name of changes.keys()) if (!changed.includes(name)) change(name)
  return `{${out}}`
}
