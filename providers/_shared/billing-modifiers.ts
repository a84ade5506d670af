import type { JsonValue } from 'model-gateway/plugin'

/** What is the case without being asked for. */
const USUAL: ReadonlySet<JsonValue | undefined> = new Set([
  ...['auto', 'default', 'standard', 'standard_only', 'on_demand'],
])

/** Of these members of a call those that may change its price, by their values. */
export function billingModifiers(
  names: readonly string[],
  get: (name: string) => JsonValue | undefined,
): string[] {
  return names.filter((name) => {
    const value = get(name) ?? null
    return value !== null && !USUAL.has(value)
  })
}
