import { absolute, ONE } from './amounts.ts'
import { type Booked, type Cell, emptyBooked, type Rejected } from './cells.ts'
import { findDayShifts, type Measured } from './day-shifts.ts'
import { type Gap, gapOf, type Tolerance } from './gap.ts'
import type { Invoice, OtherCharge } from './invoice.ts'
import type { Bucket, Day, Period } from './line.ts'
import type { Reason } from './reasons.ts'
import * as reasons from './reasons.ts'

const kinds = [
  'not_in_ledger',
  'not_in_invoice',
  'tokens_differ',
  'price_differs',
  'cost_differs',
  'unpriced',
  'day_shift',
  'fee',
] as const
export type Kind = (typeof kinds)[number]

export interface Difference {
  readonly kind: Kind
  readonly period: Period
  /** The model; for a fee, its label. */
  readonly subject: string
  /** The differing cell; for a day shift, its first day. Absent for a fee. */
  readonly cell?: Cell
  readonly gap?: Gap
  /** Invoice minus ledger, in pico-USD. */
  readonly cost: bigint | undefined
  /** Most likely first. */
  readonly reasons: readonly Reason[]
}

export interface Comparison {
  readonly differences: readonly Difference[]
  readonly compared: number
  /**
   * Number of days and models that differ only within the rounding of the file and the tolerance.
   */
  readonly rounded: number
}

export interface CompareOptions {
  readonly tolerance: Tolerance
  readonly today: Day
  /** Ledger models that may be the same as a file model. */
  readonly like: (model: string) => readonly string[]
}

export function compare(
  cells: readonly Cell[],
  invoice: Invoice,
  options: CompareOptions,
): Comparison {
  const measured = cells.map((cell) => ({ cell, gap: gapOf(cell, invoice, options.tolerance) }))
  const unequal = measured.filter(({ gap }) => gap.cost || (gap.tokens?.size ?? 0) > 0)
  const runs = findDayShifts(unequal)
  const moved = new Set(runs.flat())
  const differences = [
    ...runs.map(shiftOf),
    ...unequal.filter((each) => !moved.has(each)).map((each) => classify(each, invoice, options)),
    ...invoice.fees.map(feeOf),
  ]
  const order = (difference: Difference) => kinds.indexOf(difference.kind)
  return {
    differences: differences.sort((a, b) => order(a) - order(b) || a.period.start - b.period.start),
    compared: cells.length,
    rounded: measured.filter((each) => each.gap.rounded && !unequal.includes(each)).length,
  }
}

function shiftOf(run: readonly Measured[]): Difference {
  const [{ cell, gap }, last] = [run[0], run.at(-1)] as [Measured, Measured]
  return {
    kind: 'day_shift',
    period: { start: cell.period.start, end: last.cell.period.end },
    subject: cell.model,
    cell,
    gap,
    cost: gap.cost,
    reasons: [reasons.dayShift(run.length)],
  }
}

function feeOf({ period, label, cost }: OtherCharge): Difference {
  return { kind: 'fee', period, subject: label, cost, reasons: [reasons.fee(label)] }
}

function classify(
  { cell, gap }: Measured,
  { periods }: Pick<Invoice, 'periods'>,
  { today, like }: CompareOptions,
): Difference {
  const { billed, period, model, rejected } = cell
  const booked = cell.booked ?? emptyBooked()
  const difference = (kind: Kind, ...found: (Reason | undefined)[]): Difference => ({
    kind,
    period,
    subject: model,
    cell,
    gap,
    cost: gap.cost,
    reasons: found.filter((reason) => reason !== undefined),
  })
  const hasUse = (sums: Booked) => sums.cost > 0n || Object.values(sums.tokens).some((n) => n > 0n)

  if (billed === undefined) {
    const knows = periods.some(({ start, end }) => start <= period.start && period.start < end)
    return difference(
      'not_in_invoice',
      period.end > today - 1 ? reasons.dayNotClosed() : undefined,
      knows ? undefined : reasons.dayNotInFile(),
      booked.estimated > 0n ? reasons.estimated(booked.estimated) : undefined,
      reasons.otherAccount(),
      reasons.notBilled(),
    )
  }
  const outside = surplusReasons(cell, booked, gap)
  if (!hasUse(booked)) {
    const names = cell.names.ledger.length === 0 ? like(billed.model) : []
    return difference(
      'not_in_ledger',
      ...outside,
      outside.length === 0 && names.length > 0 ? reasons.otherName(names) : undefined,
      reasons.pastGateway(undefined),
    )
  }
  if (gap.tokens !== undefined && gap.tokens.size === 0) {
    if (booked.unpriced > 0n && (gap.cost ?? 0n) > 0n) {
      return difference('unpriced', reasons.unpriced(booked.unpriced, booked.unpricedReasons))
    }
    return difference('price_differs', ...reasons.priceReasons(billed, booked, gap))
  }
  if (explains(rejected, gap) || (booked.missing > 0n && isSurplus(gap))) {
    return difference('not_in_ledger', ...outside, requestsPast(cell, booked))
  }
  if (gap.tokens === undefined) {
    if (booked.unpriced > 0n && (gap.cost ?? 0n) > 0n) {
      return difference('unpriced', reasons.unpriced(booked.unpriced, booked.unpricedReasons))
    }
    return difference(
      'cost_differs',
      ...outside,
      ...reasons.priceReasons(billed, booked, gap),
      reasons.withoutTokens(),
    )
  }
  return difference(
    'tokens_differ',
    ...outside,
    ...reasons.countReasons(gap.tokens, booked),
    booked.estimated > 0n ? reasons.estimated(booked.estimated) : undefined,
    requestsPast(cell, booked),
    isSurplus(gap) && billed.requests === undefined ? reasons.pastGateway(undefined) : undefined,
    isLack(gap) ? reasons.notBilled() : undefined,
    isLack(gap) ? reasons.otherAccount() : undefined,
    period.end > today - 1 ? reasons.dayNotClosed() : undefined,
  )
}

/** Reasons why the vendor may count more than the ledger, from what the gateway recorded. */
function surplusReasons(cell: Cell, booked: Booked, gap: Gap): readonly Reason[] {
  if (!isSurplus(gap)) return []
  return [
    ...[...cell.rejected].map(([why, { rows, cost }]) => reasons.rejected(why, rows, cost)),
    ...(booked.missing > 0n ? [reasons.usageMissing(booked.missing)] : []),
  ]
}

/** Number of calls that did not pass the gateway, if the file counts calls. */
function requestsPast({ billed, rejected }: Cell, booked: Booked): Reason | undefined {
  const kept = [...rejected.values()].reduce((sum, { rows }) => sum + rows, 0n)
  const more = (billed?.requests ?? 0n) - booked.rows - kept
  return more > 0n ? reasons.pastGateway(more) : undefined
}

/** Whether rejected charges explain the gap exactly. */
function explains(rejected: Rejected, gap: Gap): boolean {
  const all = [...rejected.values()]
  if (all.length === 0) return false
  return [...all.map((one) => [one]), all].some((sums) => {
    const booked = (bucket: keyof Booked['tokens']) =>
      sums.reduce((sum, { tokens }) => sum + tokens[bucket], 0n) * ONE
    const cost = sums.reduce((sum, one) => sum + one.cost, 0n)
    if (gap.tokens === undefined) return absolute((gap.cost ?? 0n) - cost) <= gap.slack.cost
    const kept = new Map<Bucket, bigint>(
      gap.tokens.has('prompt')
        ? [
            ['prompt', booked('input') + booked('cache_read') + booked('cache_write')],
            ['output', booked('output')],
          ]
        : (['input', 'cache_read', 'cache_write', 'output'] as const).map((bucket) => [
            bucket,
            booked(bucket),
          ]),
    )
    return [...kept].every(
      ([bucket, tokens]) => absolute((gap.tokens?.get(bucket) ?? 0n) - tokens) <= gap.slack.tokens,
    )
  })
}

function isSurplus({ tokens, cost }: Gap): boolean {
  if (tokens === undefined) return (cost ?? 0n) > 0n
  return tokens.size > 0 && [...tokens.values()].every((gap) => gap > 0n)
}

function isLack({ tokens, cost }: Gap): boolean {
  if (tokens === undefined) return (cost ?? 0n) < 0n
  return tokens.size > 0 && [...tokens.values()].every((gap) => gap < 0n)
}
