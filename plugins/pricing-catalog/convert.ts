import { picoUsd } from './money.ts'
import {
  type LongPrompt,
  type Prices,
  pieceUnits,
  type SnapshotRow,
  tokenUnits,
  type Unit,
} from './snapshot.ts'

/** The parts that we read of a price list entry, numbers in USD per million tokens. */
export type ListedPrices = Readonly<Record<string, ListedPrice | undefined>>
type ListedPrice =
  | number
  | {
      readonly base: number
      readonly tiers: readonly { readonly start: number; readonly price: number }[]
    }

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

const rateKeys: readonly (readonly [Unit, string])[] = [
  ['input', 'input_mtok'],
  ['output', 'output_mtok'],
  ['cache_read', 'cache_read_mtok'],
  ['cache_write', 'cache_write_mtok'],
  ['cache_write_1h', 'cache_write_1h_mtok'],
  ['input_audio', 'input_audio_mtok'],
  ['cached_audio', 'cache_audio_read_mtok'],
  ['output_audio', 'output_audio_mtok'],
  ['input_image', 'input_image_mtok'],
  ['input_video', 'input_video_mtok'],
  ['output_image', 'output_image_mtok'],
  ['output_video', 'output_video_mtok'],
  ['cached_image', 'cache_image_read_mtok'],
  ['request', 'requests_kcount'],
  ['web_search', 'web_searches_kcount'],
  ['file_search', 'storage_searches_kcount'],
  ['code_execution', 'code_executions_kcount'],
]

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
  const same = (name: 'long' | Unit) =>
    others.every((other) => JSON.stringify(other[name]) === JSON.stringify(first[name]))
  const common: SnapshotRow = same('long') ? { ...first } : {}
  for (const unit of [...tokenUnits, ...pieceUnits]) if (!same(unit)) delete common[unit]
  return common
}

function rates(listed: ListedPrices): SnapshotRow {
  const row: SnapshotRow = {}
  const long = new Map<number, Prices>()
  for (const [unit, key] of rateKeys) {
    const price = listed[key]
    if (price === undefined) continue
    if (unit === 'output' && !dearerOutput.every((k) => sameOrAbsent(listed[k], price))) continue
    if (typeof price === 'number') set(row, unit, price)
    else {
      set(row, unit, price.base)
      for (const tier of price.tiers) {
        const prices = long.get(tier.start) ?? {}
        set(prices, unit, tier.price)
        // A tier begins behind its start.
        long.set(tier.start, prices)
      }
    }
  }
  if (long.size === 0) return row
  const byLength: LongPrompt[] = [...long].map(([above, prices]) => ({ above, prices }))
  return { ...row, long: byLength.sort((one, other) => one.above - other.above) }
}

function set(prices: Prices, unit: Unit, price: number): void {
  const decimal = decimalString(price)
  if (picoUsd(unit, decimal) !== undefined) prices[unit] = decimal
}

function sameOrAbsent(price: ListedPrice | undefined, expected: ListedPrice | undefined): boolean {
  return price === undefined || JSON.stringify(price) === JSON.stringify(expected)
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
