import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import type { ProviderCall } from 'model-gateway/provider'
import { editMembers, foldKey } from 'model-gateway/wire'
import { invalidRequest } from './invalid-request.ts'

/** A copy of a call's body with changed top-level members. The caller's body is not modified. */
export interface OutboundBody {
  get(name: string): JsonValue | undefined
  set(name: string, value: JsonValue): void
  remove(name: string): void
  /** All members; removed ones are undefined. */
  members(): JsonObject
  /** The body as JSON text. Unchanged members keep the caller's exact text. */
  text(): string
}

export function outboundBody(call: Pick<ProviderCall, 'body' | 'rawBody'>): OutboundBody {
  const { body, rawBody } = call
  const changes = new Map<string, JsonValue | undefined>()
  let folded: readonly (readonly [string, string])[] | undefined

  /**
   * Throws if the caller's body has the member in another case, because an upstream may use that.
   */
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

/** The gateway sets `stream`, even if the caller's body does not have it. */
export function setStream(body: OutboundBody, stream: boolean): void {
  if ((body.get('stream') === true) !== stream) body.set('stream', stream)
}

/** Applies the operator's `extra_body`: top-level keys are replaced. */
export function mergeExtraBody(body: OutboundBody, extraBody: Readonly<JsonObject>): void {
  for (const [name, value] of Object.entries(extraBody)) {
    if (value !== undefined) body.set(name, value)
  }
}
