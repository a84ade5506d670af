import type { JsonValue } from 'model-gateway/plugin'

/** A counter as the upstream reports it; the kernel validates it. */
export type StatedCount = Exclude<JsonValue, null> | undefined

/** The counter; null counts as missing. */
export function stated(value: JsonValue | undefined): StatedCount {
  return value ?? undefined
}

/** The sum of a counter and others, as far as they are counts. */
export function withOthers(count: StatedCount, ...others: readonly StatedCount[]): StatedCount {
  if (typeof count !== 'number') return count
  return others.filter(isCount).reduce((sum, other) => sum + other, count)
}

/** The sum, if both are numbers. */
export function totalOf(input: StatedCount, output: StatedCount): number | undefined {
  return typeof input === 'number' && typeof output === 'number' ? input + output : undefined
}

function isCount(value: StatedCount): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
