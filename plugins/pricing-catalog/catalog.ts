import { createNameList, isWildcard, type NameList } from 'model-gateway/host'
import type { Static } from 'model-gateway/plugin'
import { picoUsd } from './_shared/money.ts'
import {
  type Hours,
  type Prices,
  pieceUnits,
  rowsIn,
  type Sheet,
  type SnapshotModels,
  type SnapshotRow,
  tokenUnits,
  type Unit,
} from './_shared/sheet.ts'
import type { PricingSection } from './config.ts'

/** Prices in pico-USD per unit, of prompts of every length. */
export interface PriceSheet {
  readonly prices: ReadonlyMap<Unit, bigint>
  /** Prices of prompts with more tokens than a length, shortest first. */
  readonly long: readonly { readonly above: number; readonly prices: ReadonlyMap<Unit, bigint> }[]
}

/** The prices of a model for a period. */
export interface ModelRate {
  /** Hash of all other members: the same on every replica and after every restart. */
  readonly id: string
  readonly pricingProviderId: string
  readonly model: string
  readonly source: 'snapshot' | 'override'
  readonly usual: PriceSheet
  /** By service tier. */
  readonly tiers: ReadonlyMap<string, PriceSheet>
  readonly hours: readonly Hours[]
  /** Days, UTC: `from` is inclusive, `until` exclusive. */
  readonly from: string | undefined
  readonly until: string | undefined
  /** The same in milliseconds, open ends infinite. */
  readonly fromMs: number
  readonly untilMs: number
}

/** Model → rates of different periods. An override may be a pattern with a `*`. */
export type PriceList = ReadonlyMap<string, readonly ModelRate[]>

/** By pricing provider id. */
export type Catalog = ReadonlyMap<string, PriceList>

const names = new WeakMap<PriceList, NameList>()

/** The rates of a model: those of its exact name, or of the longest pattern that matches. */
export function ratesOf(list: PriceList, model: string): readonly ModelRate[] | undefined {
  const exact = list.get(model)
  if (exact !== undefined) return exact
  let patterns = names.get(list)
  if (patterns === undefined) {
    patterns = createNameList([...list.keys()].filter(isWildcard))
    names.set(list, patterns)
  }
  const found = patterns.find(model)
  return found && list.get(found.entry)
}

type Snapshot = Readonly<Record<string, SnapshotModels>>
type Overrides = Static<typeof PricingSection>['overrides']

export function buildCatalog(snapshot: Snapshot): Catalog {
  const catalog = new Map<string, PriceList>()
  for (const [provider, models] of Object.entries(snapshot)) {
    const rates = Object.keys(models).map((model) => {
      const rows = rowsIn(models, model)
      return [model, rows.map((row) => modelRate(provider, model, 'snapshot', row))] as const
    })
    catalog.set(provider, new Map(rates))
  }
  return catalog
}

/** The catalog with overrides; each override replaces all rates of its model. */
export function withOverrides(catalog: Catalog, overrides: Overrides): Catalog {
  const result = new Map(catalog)
  for (const override of overrides) {
    const { pricing_provider_id: provider, model } = override
    const models = new Map(result.get(provider))
    result.set(
      provider,
      models.set(model, [modelRate(provider, model, 'override', rowOf(override))]),
    )
  }
  return result
}

type StatedPrices = Omit<Overrides[number], 'pricing_provider_id' | 'model' | 'tiers' | 'hours'>

/** An override as a row of the list. */
function rowOf({ tiers = {}, hours = [], ...override }: Overrides[number]): SnapshotRow {
  const sheets = Object.entries(tiers).map(([tier, stated]) => [tier, sheetOf(stated)] as const)
  return { ...sheetOf(override), tiers: Object.fromEntries(sheets), hours }
}

function sheetOf({ long_prompts: long = [], ...stated }: StatedPrices) {
  return {
    ...pricesOf(stated),
    long: long.map(({ above_tokens: above, ...prices }) => ({ above, prices: pricesOf(prices) })),
  }
}

function pricesOf(stated: Readonly<Record<string, unknown>>): Prices {
  const prices: Prices = {}
  for (const unit of tokenUnits) take(prices, unit, stated[`${unit}_usd_per_million`])
  for (const unit of pieceUnits) take(prices, unit, stated[`${unit}_usd_per_thousand`])
  return prices
}

function take(prices: Prices, unit: Unit, price: unknown): void {
  if (typeof price === 'string') prices[unit] = price
}

function modelRate(
  pricingProviderId: string,
  model: string,
  source: ModelRate['source'],
  row: SnapshotRow,
): ModelRate {
  const usual = priceSheet(row)
  const tiers = new Map(
    Object.entries(row.tiers ?? {}).map(([tier, own]) => [tier, priceSheet(own)]),
  )
  const sheets = [['', usual] as const, ...tiers].map(([tier, sheet]) => [tier, contentOf(sheet)])
  const { hours = [] } = row
  const content = [pricingProviderId, model, source, JSON.stringify(sheets), row.from, row.until]
  if (hours.length > 0) content.push(JSON.stringify(hours))
  return {
    id: new Bun.CryptoHasher('sha256').update(content.join('\0')).digest('hex').slice(0, 32),
    pricingProviderId,
    model,
    source,
    usual,
    tiers,
    hours,
    from: row.from,
    until: row.until,
    fromMs: row.from === undefined ? -Infinity : Date.parse(row.from),
    untilMs: row.until === undefined ? Infinity : Date.parse(row.until),
  }
}

function priceSheet({ long = [], ...prices }: Sheet): PriceSheet {
  return {
    prices: exact(prices),
    long: long.map(({ above, prices }) => ({ above, prices: exact(prices) })),
  }
}

/** Ignores a price that pico-USD cannot represent exactly. */
function exact(prices: Prices): ReadonlyMap<Unit, bigint> {
  const known = new Map<Unit, bigint>()
  for (const unit of [...tokenUnits, ...pieceUnits]) {
    const price = prices[unit]
    const pico = price === undefined ? undefined : picoUsd(unit, price)
    if (pico !== undefined) known.set(unit, pico)
  }
  return known
}

/** Integers as strings, because they exceed the precision of JSON numbers. */
export function contentOf({ prices, long }: PriceSheet) {
  const written = (some: PriceSheet['prices']) =>
    Object.fromEntries([...some].map(([unit, pico]) => [unit, pico.toString()]))
  return {
    ...written(prices),
    ...(long.length > 0 && {
      long: long.map((tier) => ({ above: tier.above, ...written(tier.prices) })),
    }),
  }
}
