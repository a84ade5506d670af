import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import type { ProviderCall } from 'model-gateway/provider'
import { editMembers, foldKey } from 'model-gateway/wire'
import { invalidRequest } from './invalid-request.ts'

/**
 * The body of a call with changes to its top-level members laid over it. The caller's body stays as
 * it is.
 */
export interface OutboundBody {
  get(name: string): JsonValue | undefined
  set(name: string, value: JsonValue): void
  remove(name: string): void
  /** All of it; what was removed is undefined. */
  members(): JsonObject
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
  function members(): JsonObject {
    return Object.fromEntries([...Object.entries(body), ...changes])
  }
  return {
    get: (name) => (changes.has(name) ? changes.get(name) : body[name]),
    set: change,
    remove: (name) => change(name, undefined),
    members,
    text: () => (rawBody === undefined ? JSON.stringify(members()) : editMembers(rawBody, changes)),
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
