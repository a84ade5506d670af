import { picoUsdPerToken } from './money.ts'
import type { RateName, SnapshotRow } from './snapshot.ts'

/** The parts that we read of a price list entry, numbers in USD per million tokens. */
export type ListedPrices = Readonly<Record<string, ListedPrice | undefined>>
type ListedPrice =
  | number
  | { readonly base: number; readonly tiers: readonly { readonly start: number }[] }

export interface DatedPrices {
  readonly constraint?:
    | { readonly type: 'start_date'; readonly start_date: string }
    | { readonly type: 'time_of_date' }
  readonly prices: ListedPrices
}

export type Match =
  | { readonly or: readonly Match[] }
  | { readonly and: readonly Match[] }
  | { readonly equals: string }
  | { readonly starts_with: string }
  | { readonly ends_with: string }
  | { readonly contains: string }
  | { readonly regex: string }

const rateKeys: readonly (readonly [RateName, string])[] = [
  ['input', 'input_mtok'],
  ['output', 'output_mtok'],
  ['cache_read', 'cache_read_mtok'],
  ['cache_write', 'cache_write_mtok'],
]

/** Input that is counted in `input` and may be sold at another price. */
const otherInput = [
  ['input_image', 'input_image_mtok'],
  ['input_video', 'input_video_mtok'],
] as const

/** Output that is counted in `output` but sold at another price. */
const dearerOutput = ['output_reasoning_mtok', 'output_citation_mtok']

/** The digits that a number was written with: 7.5e-8 gives `0.000000075`. */
export function decimalString(value: number): string {
  const text = String(value)
  const match = /^(\d+)(?:\.(\d+))?e-(\d+)$/.exec(text)
  if (match === null) return text
  const [, whole = '', fraction = '', exponent] = match
  return `0.${'0'.repeat(Number(exponent) - whole.length)}${whole}${fraction}`
}

/** Dated rows of one model, oldest first. Of entries that hold at one time, the last one counts. */
export function rowsOf(prices: ListedPrices | readonly DatedPrices[]): SnapshotRow[] {
  if (!isDated(prices)) return [rates(prices)]
  const byTimeOfDay = prices.filter((entry) => entry.constraint?.type === 'time_of_date')
  const rows: SnapshotRow[] = []
  for (const { constraint, prices: listed } of prices) {
    if (constraint?.type === 'time_of_date') continue
    const row = commonRates([listed, ...byTimeOfDay.map((entry) => entry.prices)])
    if (constraint === undefined) {
      rows.push(row)
      continue
    }
    const previous = rows.at(-1)
    if (previous !== undefined) previous.until = constraint.start_date
    rows.push({ ...row, from: constraint.start_date })
  }
  return rows
}

function isDated(prices: ListedPrices | readonly DatedPrices[]): prices is readonly DatedPrices[] {
  return Array.isArray(prices)
}

/** What holds at every hour; a price that changes within the day is no rate. */
function commonRates(alternatives: readonly ListedPrices[]): SnapshotRow {
  const [first = {}, ...others] = alternatives.map(rates)
  for (const [name] of rateKeys) {
    if (others.some((other) => other[name] !== first[name])) delete first[name]
  }
  return first
}

function rates(listed: ListedPrices): SnapshotRow {
  const row: SnapshotRow = {}
  // A fee for each request cannot be said in rates, so no cost in tokens would be the whole cost.
  if (listed.requests_kcount !== undefined) return row
  const tiered: RateName[] = []
  const starts: number[] = []
  for (const [name, key] of rateKeys) {
    const price = listed[key]
    if (price === undefined) continue
    if (typeof price !== 'number') {
      tiered.push(name)
      starts.push(...price.tiers.map(({ start }) => start))
    }
    if (name !== 'output' || dearerOutput.every((k) => sameOrAbsent(listed[k], price))) {
      const decimal = decimalString(typeof price === 'number' ? price : price.base)
      if (picoUsdPerToken(decimal) !== undefined) row[name] = decimal
    }
  }
  if (tiered.length > 0) {
    row.tiered = tiered
    // A tier begins behind its start.
    row.longest_prompt = Math.min(...starts)
  }
  const apart = otherInput.filter(([, key]) => !sameOrAbsent(listed[key], listed.input_mtok))
  if (apart.length > 0) row.apart = apart.map(([kind]) => kind)
  return row
}

function sameOrAbsent(price: ListedPrice | undefined, expected: ListedPrice | undefined): boolean {
  return price === undefined || price === expected
}

/** The names that stand in full in a match rule; patterns are no names. */
export function namesOf(id: string, match: Match): string[] {
  const rules = 'or' in match ? match.or : [match]
  return unique([id, ...rules.flatMap((rule) => ('equals' in rule ? [rule.equals] : []))])
}

/**
 * Bedrock model and inference profile ids. The list writes down geographies as patterns that hold
 * a full id, files in-region ids under `regional.`, and has `-v1:0` on some ids that go without it, or
 * with `-v1` alone.
 */
export function bedrockNamesOf(id: string, match: Match): string[] {
  const own = id.replace(/^regional\./, '')
  const stem = own.replace(/-v1:0$/, '')
  const rules = 'or' in match ? match.or : [match]
  const written = rules
    .flatMap((rule) => Object.values(rule))
    .filter((text): text is string => typeof text === 'string')
    .map((text) => text.replace(/-v1(:0)?$/, ''))
    .filter((text) => text === stem || text.endsWith(`.${stem}`))
  return unique([own, stem, ...written].flatMap(withAndWithoutVersion))
}

function withAndWithoutVersion(name: string): string[] {
  const stem = name.replace(/-v1:0$/, '')
  if (/(-v\d+|:\d+)$/.test(stem)) return [name]
  const versions = [name, stem, `${stem}-v1:0`]
  // Of Claude models with a date in their name none ends so.
  return /\.claude-[a-z]+-\d{1,2}(-\d{1,2})?$/.test(stem) ? [...versions, `${stem}-v1`] : versions
}

/** Vertex AI writes a dated Claude model `name@date` and an undated one `name` or `name@default`. */
export function vertexClaudeNamesOf(name: string): string[] {
  const dated = /^(.+)-(\d{8})$/.exec(name)
  return dated === null ? [name, `${name}@default`] : [name, `${dated[1]}@${dated[2]}`]
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)]
}
