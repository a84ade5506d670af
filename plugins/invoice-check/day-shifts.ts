import { absolute } from './amounts.ts'
import type { Cell } from './cells.ts'
import type { Gap } from './gap.ts'
import type { Bucket } from './line.ts'

export interface Measured {
  readonly cell: Cell
  readonly gap: Gap
}

/**
 * Finds runs of days of one model whose differences add up to zero, because usage is on an adjacent
 * day on one side. `cells` are the differing ones.
 */
export function findDayShifts(cells: readonly Measured[]): readonly (readonly Measured[])[] {
  const runs: Measured[][] = []
  for (const series of Map.groupBy(cells, ({ cell }) => cell.group).values()) {
    const days = series.toSorted((a, b) => a.cell.period.start - b.cell.period.start)
    for (let first = 0; first < days.length; first++) {
      const length = runLength(days, first)
      if (length === 0) continue
      runs.push(days.slice(first, first + length))
      first += length - 1
    }
  }
  return runs
}

/** Number of days, from one on, whose differences add up to zero; 0 if none. */
function runLength(days: readonly Measured[], first: number): number {
  const sums = new Map<Bucket | 'cost', bigint>()
  let slack = { tokens: 0n, cost: 0n }
  for (let at = first; at < days.length; at++) {
    const { cell, gap } = days[at] as Measured
    const before = days[at - 1]?.cell.period
    const isNext = at === first || before?.end === cell.period.start
    if (!isNext || cell.period.end - cell.period.start !== 1 || !differsInUse(gap)) return 0
    for (const [bucket, amount] of [...(gap.tokens ?? []), ['cost', gap.cost ?? 0n] as const]) {
      sums.set(bucket, (sums.get(bucket) ?? 0n) + amount)
    }
    slack = { tokens: slack.tokens + gap.slack.tokens, cost: slack.cost + gap.slack.cost }
    const left = [...sums].filter(
      ([name, sum]) => absolute(sum) > (name === 'cost' ? slack.cost : slack.tokens),
    )
    if (left.length === 0) return at - first + 1
    // The amount carried to the next day consists of calls, so its tokens cannot be negative.
    if (new Set(left.map(([, sum]) => sum > 0n)).size > 1) return 0
  }
  return 0
}

/** A price difference is not a shift between days. */
function differsInUse({ tokens, cost }: Gap): boolean {
  return tokens === undefined ? cost !== 0n : tokens.size > 0
}
