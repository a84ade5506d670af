import type { JsonValue } from '../plugin/json.ts'

/** Whether a member says something: `null` counts as absent. */
export function isPresent(value: JsonValue | undefined): value is Exclude<JsonValue, null> {
  return value !== undefined && value !== null
}

/** Whether a member of a reply is absent, or holds what some upstreams write in the place of nothing. */
export function saysNothing(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true
  if (typeof value !== 'object') return false
  for (const _ in value) return false
  return true
}
