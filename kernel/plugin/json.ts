/** JSON as it comes over the wire. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject
export interface JsonObject {
  [key: string]: JsonValue | undefined
}

export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    // A number with more digits than JavaScript has: see `parseExact`.
    !JSON.isRawJSON(value)
  )
}
