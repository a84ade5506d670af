import type { JsonValue } from '../plugin/json.ts'

/** Whether a member says something: `null` counts as absent. */
export function isPresent(value: JsonValue | undefined): value is Exclude<JsonValue, null> {
  return value !== undefined && value !== null
}
