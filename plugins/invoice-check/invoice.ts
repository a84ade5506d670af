import type { Format } from './format.ts'
import { ALL_MODELS, type Bucket, type Day, InvoiceError, type Line, type Period } from './line.ts'
import { type ReadFile, readInvoiceFile } from './read-file.ts'

/** Sums of a vendor's file for a model in a period. */
export interface Billed {
  readonly period: Period
  /** As in the file. */
  readonly model: string
  /** In 10⁻¹² tokens. */
  readonly tokens: Map<Bucket, bigint>
  /** Number of rows with a quantity, by the tokens per unit, because each may be rounded. */
  readonly quantities: Map<number, bigint>
  /** A charge without a quantity exists, so the tokens are incomplete. */
  tokensMissing: boolean
  /** In pico-USD; undefined if the files do not state costs. */
  cost: bigint | undefined
  readonly costs: Map<Bucket, bigint>
  /** Number of rows with a charge, because each may be rounded. */
  charges: bigint
  /** Number of amounts with more than 12 decimals. */
  cuts: bigint
  requests: bigint | undefined
  readonly tiers: Set<string>
}

/** A charge for something other than tokens. */
export interface OtherCharge {
  readonly period: Period
  readonly label: string
  readonly cost: bigint
}

export interface Invoice {
  readonly files: readonly ReadFile[]
  readonly billed: readonly Billed[]
  readonly fees: readonly OtherCharge[]
  readonly apart: readonly OtherCharge[]
  /** All periods of the files, including those without usage. */
  readonly periods: readonly Period[]
  /** Number of decimals of USD and of quantities. */
  readonly places: { readonly cost: number; readonly quantity: number }
}

/** The compared days: from `from` to before `until`. */
export interface Range {
  readonly from: Day | undefined
  readonly until: Day | undefined
}

/** Sums the files of one vendor. Throws InvoiceError. */
export async function readInvoice(
  paths: readonly string[],
  asked: Format | undefined,
  range: Range,
): Promise<Invoice> {
  const billed = new Map<string, Billed>()
  const fees = new Map<string, OtherCharge>()
  const apart = new Map<string, OtherCharge>()
  const periods = new Map<string, Period>()
  const places = { cost: 0, quantity: 0 }
  /** Whether any row of a file has a model. */
  const byModel = new Map<string, boolean>()
  /** Tokens of usage files, which take precedence over those of charge files. */
  const used = new Map<Billed, Map<Bucket, bigint>>()

  function take(line: Line, format: Format, path: string): void {
    const { start, end } = line
    if (range.from !== undefined && end <= range.from) return
    if (range.until !== undefined && start >= range.until) return
    if (line.kind === 'fee' || line.kind === 'apart') {
      const charges = line.kind === 'fee' ? fees : apart
      const key = `${start}:${end}:${line.label}`
      const cost = line.cost.scaled + (charges.get(key)?.cost ?? 0n)
      charges.set(key, { period: { start, end }, label: line.label, cost })
      return
    }
    if (start < (range.from ?? start) || end > (range.until ?? end)) {
      throw new InvoiceError(
        '--from and --to split a period of the file: remove them, or use the ends of the period',
      )
    }
    periods.set(`${start}:${end}`, { start, end })
    if (line.kind === 'nothing') return
    byModel.set(path, byModel.get(path) === true || line.model !== ALL_MODELS)
    const key = `${start}:${end}:${line.model}`
    const sum = billed.get(key) ?? emptyBilled({ start, end }, line.model)
    billed.set(key, sum)
    if (line.tier !== undefined) sum.tiers.add(line.tier)
    if (line.requests !== undefined) sum.requests = (sum.requests ?? 0n) + line.requests
    places.cost = Math.max(places.cost, format.places.cost, line.cost?.places ?? 0)
    addCost(sum, line)
    addTokens(sum, line, format)
  }

  function addTokens(sum: Billed, line: Usage, format: Format): void {
    const { bucket, quantity } = line
    if (quantity === undefined || bucket === undefined) {
      if (format.charges) sum.tokensMissing = true
      return
    }
    places.quantity = Math.max(places.quantity, format.places.quantity, quantity.places)
    const tokens = quantity.scaled * BigInt(quantity.unit)
    if (format.charges) {
      add(sum.tokens, bucket, tokens)
      add(sum.quantities, quantity.unit, 1n)
    } else {
      const ofUse = used.get(sum) ?? new Map<Bucket, bigint>()
      used.set(sum, ofUse)
      add(ofUse, bucket, tokens)
    }
  }

  const files: ReadFile[] = []
  for (const path of paths) {
    const file = await readInvoiceFile(path, asked, (line, format) => take(line, format, path))
    const other = files.find(({ format }) => format.vendor !== file.format.vendor)
    if (other !== undefined) {
      throw new InvoiceError(
        `${path} is from ${file.format.vendor}, but ${other.path} is from ${other.format.vendor}: check them separately`,
      )
    }
    files.push(file)
    if (file.passedOver > 0 && file.passedOver === file.rows) {
      throw new InvoiceError(`${path}: none of the ${file.rows} rows is for models`)
    }
  }
  if (files.some(({ format }) => !format.charges)) {
    for (const sum of billed.values()) preferUse(sum, used.get(sum))
  }
  const named = paths.find((path) => byModel.get(path) === true)
  const unnamed = paths.find((path) => byModel.get(path) === false)
  if (named !== undefined && unnamed !== undefined) {
    throw new InvoiceError(
      `${unnamed} is not grouped by model, but ${named} is: export it grouped by model, line item or description`,
    )
  }
  const sums = [...billed.values()]
  const isLeft = ({ model }: Billed) => named !== undefined && model === ALL_MODELS
  for (const { period, cost } of sums.filter(isLeft)) {
    const left = { period, label: 'charges without a model', cost: cost ?? 0n }
    fees.set(`${period.start}:${period.end}:`, left)
  }
  return {
    files,
    billed: sums.filter((sum) => !isLeft(sum)),
    fees: [...fees.values()].filter(({ cost }) => cost !== 0n),
    apart: [...apart.values()].filter(({ cost }) => cost !== 0n),
    periods: [...periods.values()],
    places,
  }
}

type Usage = Extract<Line, { kind: 'usage' }>

function emptyBilled(period: Period, model: string): Billed {
  return {
    period,
    model,
    tokens: new Map(),
    quantities: new Map(),
    tokensMissing: false,
    cost: undefined,
    costs: new Map(),
    charges: 0n,
    cuts: 0n,
    requests: undefined,
    tiers: new Set(),
  }
}

function addCost(sum: Billed, { cost, bucket }: Usage): void {
  if (cost === undefined) return
  sum.cost = (sum.cost ?? 0n) + cost.scaled
  sum.charges += 1n
  if (cost.cut) sum.cuts += 1n
  if (bucket !== undefined) add(sum.costs, bucket, cost.scaled)
}

export function add<K>(sums: Map<K, bigint>, key: K, amount: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + amount)
}

/** If both kinds of files exist, only the usage files determine the tokens. */
function preferUse(sum: Billed, used: ReadonlyMap<Bucket, bigint> | undefined): void {
  sum.tokens.clear()
  sum.quantities.clear()
  for (const [bucket, tokens] of used ?? []) sum.tokens.set(bucket, tokens)
  sum.tokensMissing = false
}
