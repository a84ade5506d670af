import type { JsonValue } from 'model-gateway/plugin'
import { USUAL_TIERS } from 'model-gateway/wire'

/** The members of a call that may change its price, with their values. */
export function billingModifiers(
  names: readonly string[],
  get: (name: string) => JsonValue | undefined,
): string[] {
  return names.filter((name) => {
    const value = get(name) ?? null
    return value !== null && !USUAL_TIERS.has(value)
  })
}
