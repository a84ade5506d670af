import type { JsonValue } from 'model-gateway/plugin'

/** A counter as an upstream states it: the kernel judges whether it can be one. */
export type StatedCount = Exclude<JsonValue, null> | undefined

/** The counter; null is none. */
export function stated(value: JsonValue | undefined): StatedCount {
  return value ?? undefined
}

/** A counter with others that stand beside it, as far as they can be counts. */
export function withOthers(count: StatedCount, ...others: readonly StatedCount[]): StatedCount {
  if (typeof count !== 'number') return count
  return others.filter(isCount).reduce((sum, other) => sum + other, count)
}

/** Both, when they are numbers. */
export function totalOf(input: StatedCount, output: StatedCount): number | undefined {
  return typeof input === 'number' && typeof output === 'number' ? input + output : undefined
}

function isCount(value: StatedCount): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
