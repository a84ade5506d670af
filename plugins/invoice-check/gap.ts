import { absolute, halfOfLast, ONE } from './amounts.ts'
import type { Cell } from './cells.ts'
import type { Invoice } from './invoice.ts'
import type { Bucket } from './line.ts'

/** The tolerance, in addition to the rounding of the file. */
export interface Tolerance {
  /** Pico-USD for each day and model. */
  readonly usd: bigint
  /** Percentage of the larger side, in 10⁻¹² of a percent; also applies to tokens. */
  readonly percent: bigint
}

/** Invoice minus ledger. */
export interface Gap {
  /** Differing buckets, in 10⁻¹² tokens; undefined if the file does not state all tokens. */
  readonly tokens: ReadonlyMap<Bucket, bigint> | undefined
  /** Pico-USD, 0 if within the tolerance; undefined if the files do not state costs. */
  readonly cost: bigint | undefined
  /** Largest rounding error of the file, by bucket, and of the cost. */
  readonly slack: { readonly tokens: bigint; readonly cost: bigint }
  /** Something differs, but within the tolerance. */
  readonly rounded: boolean
}

const NONE = { input: 0n, cache_read: 0n, cache_write: 0n, output: 0n }

export function gapOf(
  { billed, booked }: Cell,
  { places, files }: Pick<Invoice, 'places' | 'files'>,
  tolerance: Tolerance,
): Gap {
  let rounded = false
  const passes = (gap: bigint, slack: bigint, a: bigint, b: bigint) => {
    const parts = absolute(gap) * 100n * ONE
    const isWithin =
      absolute(gap) <= slack || [a, b].some((side) => parts <= tolerance.percent * absolute(side))
    if (isWithin && gap !== 0n) rounded = true
    return isWithin
  }
  const slack = { tokens: 0n, cost: 0n }
  for (const [unit, rows] of billed?.quantities ?? []) {
    if (unit > 1) slack.tokens += rows * BigInt(unit) * halfOfLast(places.quantity)
  }
  slack.cost = (billed?.charges ?? 0n) * halfOfLast(places.cost) + (billed?.cuts ?? 0n)

  const stated = billed?.tokens ?? new Map<Bucket, bigint>()
  const booking = booked?.tokens ?? NONE
  const sides: readonly (readonly [Bucket, bigint])[] = stated.has('prompt')
    ? [
        ['prompt', booking.input + booking.cache_read + booking.cache_write],
        ['output', booking.output],
      ]
    : (Object.entries(booking) as [Bucket, bigint][])
  const tokens = new Map<Bucket, bigint>()
  for (const [bucket, count] of sides) {
    const invoice = stated.get(bucket) ?? 0n
    const ledger = count * ONE
    const gap = invoice - ledger
    if (!passes(gap, slack.tokens, invoice, ledger)) tokens.set(bucket, gap)
  }
  const tellsCosts = files.some(({ format }) => format.charges)
  const cost = (billed?.cost ?? 0n) - (booked?.cost ?? 0n)
  const passesCost =
    tellsCosts && passes(cost, slack.cost + tolerance.usd, billed?.cost ?? 0n, booked?.cost ?? 0n)
  return {
    tokens: billed?.tokensMissing ? undefined : tokens,
    cost: tellsCosts ? (passesCost ? 0n : cost) : undefined,
    slack,
    rounded,
  }
}
