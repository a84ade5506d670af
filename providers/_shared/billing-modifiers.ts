import type { JsonValue } from 'model-gateway/plugin'
import { USUAL_TIERS } from 'model-gateway/wire'

/** Of these members of a call those that may change its price, by their values. */
export function billingModifiers(
  names: readonly string[],
  get: (name: string) => JsonValue | undefined,
): string[] {
  return names.filter((name) => {
    const value = get(name) ?? null
    return value !== null && !USUAL_TIERS.has(value)
  })
}
