import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import type { OutboundBody } from './outbound-body.ts'

/** Applies the operator's `extra_body` to a native body: objects merge, other values replace. */
export function mergeDeep(body: JsonObject, extra: Readonly<JsonObject>): JsonObject {
  const merged = { ...body }
  for (const [name, value] of Object.entries(extra)) {
    if (value === undefined) continue
    const own = merged[name]
    merged[name] = isJsonObject(own) && isJsonObject(value) ? mergeDeep(own, value) : value
  }
  return merged
}

/** The same for a body that keeps its original text otherwise. */
export function mergeDeepInto(body: OutboundBody, extraBody: Readonly<JsonObject>): void {
  const stated = Object.keys(extraBody)
    .map((name) => [name, body.get(name)] as const)
    .filter(([, value]) => value !== undefined)
  const merged = mergeDeep(Object.fromEntries(stated), extraBody)
  for (const [name, value] of Object.entries(merged)) body.set(name, value ?? null)
}
