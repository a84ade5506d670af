import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import { parseExact } from './exact-json.ts'
import { nestsTooDeep } from './json-depth.ts'

/** The JSON object in a text, read with `parseExact`; undefined for other texts. */
export function parseObject(text: string): JsonObject | undefined {
  if (nestsTooDeep(text)) return undefined
  try {
    const value = parseExact(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * The arguments of a tool call as an object. Invalid arguments from a model are kept as text,
 * because refusing them would end the conversation for good.
 */
export function toolInput(stated: JsonValue | undefined): JsonObject {
  if (isJsonObject(stated)) return stated
  const text = typeof stated === 'string' ? stated : JSON.stringify(stated ?? null)
  if (text.trim() === '' || text === 'null') return {}
  return parseObject(text) ?? { _raw_arguments: text }
}
