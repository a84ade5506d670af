import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'

/**
 * A member under its JSON name or its proto name, because the API accepts both. `null` counts as
 * absent.
 *
 * @example member(part, 'inlineData') // part.inlineData ?? part.inline_data
 */
export function member(owner: JsonObject, name: string): JsonValue | undefined {
  return owner[name] ?? owner[spelledSnake(name)] ?? undefined
}

/** The same, if it is an object. */
export function objectIn(owner: JsonObject, name: string): JsonObject | undefined {
  const value = member(owner, name)
  return isJsonObject(value) ? value : undefined
}

/** The same, if it is a string. */
export function textIn(owner: JsonObject, name: string): string | undefined {
  const value = member(owner, name)
  return typeof value === 'string' ? value : undefined
}

/** The objects of a list; a single object counts as a list. */
export function objectsIn(owner: JsonObject, name: string): readonly JsonObject[] {
  const value = member(owner, name)
  return (Array.isArray(value) ? value : [value]).filter(isObject)
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return isJsonObject(value)
}

/** `generationConfig` or `generation_config`. */
export function spelledCamel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function spelledSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
