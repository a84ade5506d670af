import type { JsonValue } from '../plugin/json.ts'

/** Whether a member is present; `null` counts as absent. */
export function isPresent(value: JsonValue | undefined): value is Exclude<JsonValue, null> {
  return value !== undefined && value !== null
}

/** Whether a reply member is absent or has an empty value that some upstreams send. */
export function saysNothing(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true
  if (typeof value !== 'object') return false
  for (const _ in value) return false
  return true
}
