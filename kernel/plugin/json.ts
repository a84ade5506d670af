/**
 * JSON as it comes over the wire.
 *
 * @example const parsed = JSON.parse(text) as JsonValue
 */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject
/**
 * An object of it. A member that is `undefined` is absent.
 *
 * @example const body: JsonObject = { model: 'small', stream: true }
 */
export interface JsonObject {
  [key: string]: JsonValue | undefined
}

declare global {
  /** As JavaScript has them, and TypeScript not yet. */
  interface JSON {
    rawJSON(text: string): WrittenNumber & JsonObject
    isRawJSON(value: unknown): value is WrittenNumber
  }
}

/** A number that JavaScript would round. `JSON.stringify` writes it as it was written. */
export interface WrittenNumber {
  readonly rawJSON: string
}

/**
 * Whether a value that was parsed is an object: no list, and not `null`.
 *
 * @example const choice = isJsonObject(body) ? body.choice : undefined
 */
export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    // A number with more digits than JavaScript has: see `parseExact`.
    !JSON.isRawJSON(value)
  )
}

/** Freezes plain data to its leaves, in place. Instances of classes, such as Secrets, stay as they are. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return value
  Object.freeze(value)
  for (const part of Object.values(value)) deepFreeze(part)
  return value
}
