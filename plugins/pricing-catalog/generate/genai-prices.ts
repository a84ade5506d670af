import { picoUsd } from '../_shared/money.ts'
import {
  type Hours,
  type LongPrompt,
  type Prices,
  pieceUnits,
  type Sheet,
  type SnapshotRow,
  tokenUnits,
  type Unit,
} from '../_shared/sheet.ts'
import { shifted } from './decimal.ts'

/** The used members of an entry of genai-prices; numbers are text. */
export type ListedPrices = Readonly<Record<string, ListedPrice | undefined>>
type ListedPrice =
  | string
  | {
      readonly base: string
      readonly tiers: readonly { readonly start: number; readonly price: string }[]
    }

interface Constraint {
  readonly start_date?: readonly [number, number, number]
  readonly start_time?: readonly number[]
  readonly end_time?: readonly number[]
}

export interface DatedPrices {
  readonly constraint?: Constraint | null
  readonly prices: ListedPrices
}

export interface Variant extends DatedPrices {
  readonly when: Readonly<Record<string, string>>
}

export interface ListedModel {
  readonly id: string
  readonly match: Match
  readonly prices: ListedPrices | readonly DatedPrices[]
  readonly price_variants?: readonly Variant[] | null
}

export interface ListedProvider {
  readonly id: string
  readonly models: readonly ListedModel[]
}

export type Match =
  | { readonly or_: readonly Match[] }
  | { readonly and_: readonly Match[] }
  | { readonly equals: string }
  | { readonly starts_with: string }
  | { readonly ends_with: string }
  | { readonly contains: string }
  | { readonly regex: string }

const rateKeys: readonly (readonly [Unit, string, number?])[] = [
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
  ['page', 'input_document_kpages'],
  ['character', 'input_mchars', -3],
]

/** Units that are counted in `output` but have a different price. */
const dearerOutput = ['output_reasoning_mtok', 'output_citation_mtok']

/**
 * The prices of a model, oldest first, and the units whose price was left out because it varies.
 */
export interface ReadRows {
  readonly rows: SnapshotRow[]
  readonly withheld: ReadonlySet<Unit>
}

/** The days on which time-of-day prices apply. */
export type HourDays = Pick<Hours, 'weekdays' | 'except'>

/**
 * Dated rows of one model, those that hold on a day or later. Of entries that hold at one time the last one
 * counts. Prices of a tier hold as long as those of the row in which they were seen. Prices by the hour
 * become the tier `peak` where it is known on which days they hold; else they are withheld.
 */
export function rowsOf(
  { prices, price_variants }: ListedModel,
  today: string,
  days?: HourDays,
): ReadRows {
  const variants = price_variants ?? []
  const entries = isDated(prices) ? prices : [{ prices }]
  const byTimeOfDay = entries.filter(({ constraint }) => constraint?.start_time !== undefined)
  const dated = entries.filter(({ constraint }) => constraint?.start_time === undefined)
  const starts = [...dated.map(startOf), ...variants.map(startOf).filter((day) => day > today)]
  const withheld = new Set<Unit>()
  const rows: SnapshotRow[] = []
  const borders = [...new Set(starts)].sort()
  for (const [at, from] of borders.entries()) {
    const until = borders[at + 1]
    if (until !== undefined && until <= today) continue
    const listed = dated.findLast((entry) => startOf(entry) <= from)?.prices ?? {}
    const peak = days && peakOf(byTimeOfDay)
    const others = peak === undefined ? byTimeOfDay.map((entry) => entry.prices) : []
    const row = commonRates([listed, ...others], withheld)
    const seen = from > today ? from : today
    const ofReplies = tiersOf(
      listed,
      variants.filter((variant) => startOf(variant) <= seen),
    )
    const tiers = { ...ofReplies, ...(peak && { peak: sheetOf(peak.prices) }) }
    rows.push({
      ...row,
      ...(Object.keys(tiers).length > 0 && { tiers }),
      ...(peak && { hours: [{ tier: 'peak', utc: peak.utc, ...days }] }),
      ...(from !== '' && { from }),
      ...(until !== undefined && { until }),
    })
  }
  return { rows, withheld }
}

function isDated(prices: ListedPrices | readonly DatedPrices[]): prices is readonly DatedPrices[] {
  return Array.isArray(prices)
}

function startOf({ constraint }: DatedPrices): string {
  const { start_date: day } = constraint ?? {}
  return day?.map((part) => String(part).padStart(2, '0')).join('-') ?? ''
}

/** The hours of a day with different prices, if these prices are the same in all of them. */
function peakOf(entries: readonly DatedPrices[]) {
  const [first] = entries
  const same = entries.every(({ prices }) => Bun.deepEquals(prices, first?.prices))
  if (first === undefined || !same) return undefined
  const utc = entries.map(({ constraint }) => {
    const { start_time: start = [], end_time: end = [] } = constraint ?? {}
    return `${clock(start)}-${clock(end)}`
  })
  return { prices: first.prices, utc }
}

function clock([hour = 0, minute = 0]: readonly number[]): string {
  return [hour, minute].map((part) => String(part).padStart(2, '0')).join(':')
}

/**
 * A variant states differences from the standard prices; the first one with a difference counts.
 */
function tiersOf(usual: ListedPrices, variants: readonly Variant[]): Record<string, Sheet> {
  const listed: Record<string, ListedPrices> = {}
  for (const { when, prices } of variants) {
    const tier = tierOf(when)
    if (tier !== undefined) listed[tier] = { ...prices, ...listed[tier] }
  }
  const tiers = Object.entries(listed).map(([tier, stated]) => {
    const { long, ...sheet } = sheetOf({ ...usual, ...stated })
    // Fees are those of the usual tier unless the list says otherwise.
    for (const [unit, key] of rateKeys) {
      if (isPiece(unit) && stated[key] === undefined) delete sheet[unit]
    }
    return [tier, { ...sheet, ...(long && { long }) }] as const
  })
  return Object.fromEntries(tiers)
}

/** The name of the tier in replies. */
function tierOf(when: Variant['when']): string | undefined {
  const [[kind, value] = ['', '']] = Object.entries(when)
  if (kind === 'service_tier') return value === 'default' ? undefined : value
  return kind === 'processing' || kind === 'speed' ? value : undefined
}

/** The price if it is the same at every hour; otherwise none. */
function commonRates(alternatives: readonly ListedPrices[], withheld: Set<Unit>): Sheet {
  const [first = {}, ...others] = alternatives.map(sheetOf)
  const same = (name: 'long' | Unit) =>
    others.every((other) => JSON.stringify(other[name]) === JSON.stringify(first[name]))
  const common: Sheet = same('long') ? { ...first } : {}
  for (const unit of [...tokenUnits, ...pieceUnits]) {
    if (same(unit)) continue
    delete common[unit]
    withheld.add(unit)
  }
  if (alternatives.some((listed) => listed.output_mtok !== undefined && outputVaries(listed))) {
    withheld.add('output')
  }
  return common
}

function sheetOf(listed: ListedPrices): Sheet {
  const sheet: Prices = {}
  const long = new Map<number, Prices>()
  for (const [unit, key, places] of rateKeys) {
    const price = listed[key]
    if (price === undefined || (unit === 'output' && outputVaries(listed))) continue
    if (typeof price === 'string') set(sheet, unit, price, places)
    else {
      set(sheet, unit, price.base, places)
      for (const tier of price.tiers) {
        const prices = long.get(tier.start) ?? {}
        set(prices, unit, tier.price, places)
        // A tier applies to prompts longer than its start.
        long.set(tier.start, prices)
      }
    }
  }
  if (long.size === 0) return sheet
  const byLength: LongPrompt[] = [...long].map(([above, prices]) => ({ above, prices }))
  return { ...sheet, long: byLength.sort((one, other) => one.above - other.above) }
}

function set(prices: Prices, unit: Unit, price: string, places = 0): void {
  const decimal = shifted(price, places)
  if (decimal !== undefined && picoUsd(unit, decimal) !== undefined) prices[unit] = decimal
}

function outputVaries(listed: ListedPrices): boolean {
  const { output_mtok } = listed
  return dearerOutput.some((key) => {
    const price = listed[key]
    return price !== undefined && JSON.stringify(price) !== JSON.stringify(output_mtok)
  })
}

const PIECES: ReadonlySet<Unit> = new Set(pieceUnits)

function isPiece(unit: Unit): boolean {
  return PIECES.has(unit)
}
