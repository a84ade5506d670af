import { add, type Billed, type Invoice } from './invoice.ts'
import type { Bucket, Day, Period } from './line.ts'
import { baseName, groupModels } from './model-names.ts'
import type { LedgerSums } from './store.ts'

/** Sums of the ledger for a model in a period. */
export interface Booked {
  rows: bigint
  readonly tokens: Record<Exclude<Bucket, 'prompt'>, bigint>
  reasoning: bigint
  /** Pico-USD. */
  cost: bigint
  /** Numbers of rows by pricing status. */
  unpriced: bigint
  missing: bigint
  estimated: bigint
  readonly unpricedReasons: Set<string>
  readonly rates: Map<string, Rate>
}

/** Price list rates that the rows used. */
export interface Rate {
  readonly id: string
  readonly pricingProviderId: string | undefined
  readonly model: string
}

/** Rejected charges, by reason. */
export type Rejected = ReadonlyMap<string, Booked>

/** Both sides of one period and model. */
export interface Cell {
  readonly period: Period
  /** The same for all periods of a model. */
  readonly group: string
  /** Names in the ledger, or in the file if the ledger has none. */
  readonly model: string
  /** Sum over all periods. */
  readonly names: { readonly invoice: readonly string[]; readonly ledger: readonly string[] }
  readonly billed: Billed | undefined
  readonly booked: Booked | undefined
  readonly rejected: Rejected
}

/** Merges overlapping periods of a file, because a call in the overlap could belong to either. */
function joinPeriods(periods: Iterable<Period>): readonly Period[] {
  const joined: Period[] = []
  for (const period of [...periods].sort((a, b) => a.start - b.start)) {
    const last = joined.at(-1)
    if (last === undefined || period.start >= last.end) joined.push(period)
    else joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, period.end) }
  }
  return joined
}

/** Joins both sides, ordered by day and model. */
export function matchCells(
  invoice: Pick<Invoice, 'billed' | 'periods'>,
  ledger: readonly LedgerSums[],
  given: ReadonlyMap<string, string>,
): readonly Cell[] {
  const periods = joinPeriods(invoice.periods)
  const groups = groupModels(new Set(invoice.billed.map(({ model }) => model)), ledger, given)
  const names = new Map<string, { readonly invoice: Set<string>; readonly ledger: Set<string> }>()
  const namesOf = (group: string) => {
    const known = names.get(group) ?? { invoice: new Set(), ledger: new Set() }
    names.set(group, known)
    return known
  }
  const cells = new Map<string, CellSums>()
  const cellAt = (period: Period, group: string) => {
    const key = `${period.start}:${group}`
    const cell: CellSums = cells.get(key) ?? { period, group, rejected: new Map() }
    cells.set(key, cell)
    return cell
  }
  for (const billed of invoice.billed) {
    const group = groups.ofFile(billed.model)
    namesOf(group).invoice.add(billed.model)
    const cell = cellAt(periodOf(periods, billed.period.start), group)
    cell.billed = cell.billed === undefined ? billed : joinBilled(cell.billed, billed)
  }
  for (const sums of ledger) {
    const group = groups.ofLedger(sums)
    namesOf(group).ledger.add(sums.upstreamModel)
    const cell = cellAt(periodOf(periods, sums.day), group)
    if (sums.rejection === null) {
      cell.booked = book(cell.booked ?? emptyBooked(), sums)
    } else {
      const rejected = cell.rejected.get(sums.rejection) ?? emptyBooked()
      cell.rejected.set(sums.rejection, book(rejected, sums))
    }
  }
  return [...cells.values()]
    .filter(({ billed, booked }) => billed !== undefined || booked !== undefined)
    .map(({ billed, booked, ...cell }) => {
      const known = namesOf(cell.group)
      const [invoiceNames, ledgerNames] = [[...known.invoice].sort(), [...known.ledger].sort()]
      return {
        ...cell,
        billed,
        booked,
        model: (ledgerNames.length > 0 ? ledgerNames : invoiceNames).join(', '),
        names: { invoice: invoiceNames, ledger: ledgerNames },
      }
    })
    .sort((a, b) => a.period.start - b.period.start || (a.model < b.model ? -1 : 1))
}

/** Ledger models that share a word with a file model, as suggestions for --model-map. */
export function likeNames(model: string, ledger: readonly LedgerSums[]): readonly string[] {
  const words = new Set(
    baseName(model)
      .base.split(' ')
      .filter((word) => /[a-z]{3}/.test(word)),
  )
  const names = new Set(ledger.map(({ upstreamModel }) => upstreamModel))
  return [...names].filter((name) =>
    baseName(name)
      .base.split(' ')
      .some((word) => words.has(word)),
  )
}

interface CellSums {
  readonly period: Period
  readonly group: string
  billed?: Billed
  booked?: Booked
  readonly rejected: Map<string, Booked>
}

/** The period of the file that contains a day; an unknown day is a separate period. */
function periodOf(periods: readonly Period[], day: Day): Period {
  let low = 0
  let high = periods.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const period = periods[middle] as Period
    if (day < period.start) high = middle - 1
    else if (day >= period.end) low = middle + 1
    else return period
  }
  return { start: day, end: day + 1 }
}

export function emptyBooked(): Booked {
  return {
    rows: 0n,
    tokens: { input: 0n, cache_read: 0n, cache_write: 0n, output: 0n },
    reasoning: 0n,
    cost: 0n,
    unpriced: 0n,
    missing: 0n,
    estimated: 0n,
    unpricedReasons: new Set(),
    rates: new Map(),
  }
}

function book(booked: Booked, sums: LedgerSums): Booked {
  booked.rows += sums.rows
  booked.tokens.input += sums.input
  booked.tokens.cache_read += sums.cacheRead
  booked.tokens.cache_write += sums.cacheWrite
  booked.tokens.output += sums.output
  booked.reasoning += sums.reasoning
  booked.cost += sums.cost
  if (sums.status === 'unpriced') booked.unpriced += sums.rows
  if (sums.status === 'usage_missing') booked.missing += sums.rows
  if (sums.status === 'legacy_estimated') booked.estimated += sums.rows
  if (sums.unpricedReason !== null) booked.unpricedReasons.add(sums.unpricedReason)
  if (sums.rateId !== null) {
    booked.rates.set(sums.rateId, {
      id: sums.rateId,
      pricingProviderId: sums.pricingProviderId ?? undefined,
      model: sums.pricingModel,
    })
  }
  return booked
}

function joinBilled(a: Billed, b: Billed): Billed {
  return {
    ...a,
    tokens: joinSums(a.tokens, b.tokens),
    quantities: joinSums(a.quantities, b.quantities),
    tokensMissing: a.tokensMissing || b.tokensMissing,
    cost: joinCounts(a.cost, b.cost),
    costs: joinSums(a.costs, b.costs),
    charges: a.charges + b.charges,
    cuts: a.cuts + b.cuts,
    requests: joinCounts(a.requests, b.requests),
    tiers: new Set([...a.tiers, ...b.tiers]),
  }
}

function joinCounts(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  return a === undefined ? b : b === undefined ? a : a + b
}

function joinSums<K>(a: ReadonlyMap<K, bigint>, b: ReadonlyMap<K, bigint>): Map<K, bigint> {
  const joined = new Map(a)
  for (const [key, amount] of b) add(joined, key, amount)
  return joined
}
