import { isJsonObject, type JsonObject } from 'model-gateway/plugin'

/** The operator's last word on a native body: objects merge, other values replace. */
export function mergeDeep(body: JsonObject, extra: Readonly<JsonObject>): JsonObject {
  const merged = { ...body }
  for (const [name, value] of Object.entries(extra)) {
    if (value === undefined) continue
    const own = merged[name]
    merged[name] = isJsonObject(own) && isJsonObject(value) ? mergeDeep(own, value) : value
  }
  return merged
}
