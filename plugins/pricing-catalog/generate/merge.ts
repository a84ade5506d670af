import {
  type LongPrompt,
  type Prices,
  pieceUnits,
  type Sheet,
  type SnapshotRow,
  tokenUnits,
  type Unit,
} from '../_shared/sheet.ts'
import { sameButForRounding } from './decimal.ts'
import type { LiteLlmPrices } from './litellm.ts'

/** A place in the prices of a model where two lists differ, with both values. */
export interface Difference {
  /** Empty: the standard tier. */
  readonly tier: string
  readonly above: number | undefined
  readonly unit: Unit
  readonly ours: string
  readonly theirs: string
}

const UNITS: readonly Unit[] = [...tokenUnits, ...pieceUnits]
const TEXT: readonly Unit[] = ['input', 'output']

/**
 * Adds units and tiers of LiteLLM that the row lacks. If both have a price and they differ by more
 * than rounding, `choose` decides. Units that were withheld from the row stay without a price.
 */
export function merged(
  row: SnapshotRow,
  withheld: ReadonlySet<Unit>,
  other: LiteLlmPrices,
  choose: (difference: Difference) => string,
): SnapshotRow {
  const joined = (own: Prices, more: Prices, tier: string, above?: number): Prices => {
    const prices: Prices = {}
    for (const unit of UNITS) {
      if (withheld.has(unit)) continue
      const [ours, theirs] = [own[unit], more[unit]]
      const price =
        ours === undefined || theirs === undefined
          ? (ours ?? theirs)
          : (finer(ours, theirs) ?? choose({ tier, above, unit, ours, theirs }))
      if (price !== undefined) prices[unit] = price
    }
    return prices
  }
  const sheet = (own: Sheet, more: Sheet, tier: string): Sheet => {
    const long = own.long?.map(({ above, prices }) => {
      const same = more.long?.find((each) => isSameLength(each.above, above))
      return { above, prices: joined(prices, same?.prices ?? {}, tier, above) }
    })
    return { ...joined(own, more, tier), ...(long !== undefined && { long }) }
  }
  const { tiers = {}, hours, from, until } = row
  const names = [...new Set([...Object.keys(tiers), ...Object.keys(other.tiers)])].sort()
  const both = names.map((tier) => {
    const [own, more = {}] = [tiers[tier], other.tiers[tier]]
    return [tier, own === undefined ? withLengthsOf(more, row) : sheet(own, more, tier)] as const
  })
  const known = withheld.has('input') ? [] : both
  return {
    ...sheet(row, other.usual, ''),
    ...(known.length > 0 && { tiers: Object.fromEntries(known) }),
    ...(hours !== undefined && { hours }),
    ...(from !== undefined && { from }),
    ...(until !== undefined && { until }),
  }
}

/** One list has 272,000 where another has 271,999: the limit is inclusive in one of them. */
function isSameLength(one: number, other: number): boolean {
  return Math.abs(one - other) <= 1
}

function withLengthsOf({ long, ...prices }: Sheet, { long: ours = [] }: Sheet): Sheet {
  if (long === undefined) return prices
  const border = ({ above, ...each }: LongPrompt): LongPrompt => ({
    above: ours.find((our) => isSameLength(our.above, above))?.above ?? above,
    ...each,
  })
  return { ...prices, long: long.map(border) }
}

/** Whether both have text prices, and they are equal. */
export function isSameModel(one: Sheet, other: Sheet): boolean {
  return statedByBoth(one, other).length > 0 && !isOtherModel(one, other)
}

/** Whether their text prices differ. */
export function isOtherModel(one: Sheet, other: Sheet): boolean {
  return statedByBoth(one, other).some(([a, b]) => finer(a, b) === undefined)
}

function statedByBoth(one: Sheet, other: Sheet): [string, string][] {
  const pairs = TEXT.map((unit) => [one[unit], other[unit]])
  return pairs.filter((pair): pair is [string, string] =>
    pair.every((price) => price !== undefined),
  )
}

/** The price with more digits, if both are equal after rounding. */
function finer(one: string, other: string): string | undefined {
  if (!sameButForRounding(one, other)) return undefined
  return one.length >= other.length ? one : other
}
