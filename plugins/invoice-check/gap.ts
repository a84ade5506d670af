import { absolute, halfOfLast, ONE } from './amounts.ts'
import type { Cell } from './cells.ts'
import type { Invoice } from './invoice.ts'
import type { Bucket } from './line.ts'

/** What is let pass, beside the rounding of the file. */
export interface Tolerance {
  /** Pico-USD for each day and model. */
  readonly usd: bigint
  /** Of the larger side, in 10⁻¹² of a percent; of tokens, too. */
  readonly percent: bigint
}

/** The invoice less the ledger. */
export interface Gap {
  /** Buckets that differ, in 10⁻¹² tokens; undefined: the file does not tell all tokens. */
  readonly tokens: ReadonlyMap<Bucket, bigint> | undefined
  /** Pico-USD, 0 for what is let pass; undefined: the files do not tell costs. */
  readonly cost: bigint | undefined
  /** What the rounding of the file can hide: of a bucket, and of the cost. */
  readonly slack: { readonly tokens: bigint; readonly cost: bigint }
  /** Something is not exactly the same, and let pass. */
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
