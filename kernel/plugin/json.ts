/**
 * A parsed JSON value.
 *
 * @example const parsed = JSON.parse(text) as JsonValue
 */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject
/**
 * A JSON object. A member that is `undefined` counts as absent.
 *
 * @example const body: JsonObject = { model: 'small', stream: true }
 */
export interface JsonObject {
  [key: string]: JsonValue | undefined
}

declare global {
  /** Part of JavaScript that TypeScript's types lack. */
  interface JSON {
    rawJSON(text: string): WrittenNumber & JsonObject
    isRawJSON(value: unknown): value is WrittenNumber
  }
}

/** A number that JavaScript would round. `JSON.stringify` writes it unchanged. */
export interface WrittenNumber {
  readonly rawJSON: string
}

/**
 * Whether a parsed value is an object, not a list or `null`.
 *
 * @example const choice = isJsonObject(body) ? body.choice : undefined
 */
export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    // A number with more digits than a double holds: see `parseExact`.
    !JSON.isRawJSON(value)
  )
}

/** Freezes plain data deeply, in place. Class instances such as Secrets stay unfrozen. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return value
  Object.freeze(value)
  for (const part of Object.values(value)) deepFreeze(part)
  return value
}
