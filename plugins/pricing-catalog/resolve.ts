import type {
  LineItem,
  PriceQuery,
  PriceResolution,
  RateResolution,
} from 'model-gateway/accounting'
import type { PricingIdentity, UnpricedReason } from 'model-gateway/provider'
import type { Usage } from 'model-gateway/wire'
import { shownPrice } from './_shared/money.ts'
import { type Hours, pieceUnits, type Unit } from './_shared/sheet.ts'
import type { Catalog, ModelRate, PriceSheet } from './catalog.ts'

/** So much of something was used, and what it means when that has no price. */
interface Quantity {
  readonly unit: string
  readonly quantity: number
  readonly missing: UnpricedReason
  /** What it costs where it has no price of its own. */
  readonly else?: Unit
}

const PIECES: ReadonlySet<string> = new Set(pieceUnits)
/** Asks for a tier; the reply says in which it was served. */
const TIER = 'service_tier'

/**
 * The price of a call: Σ quantity × price in pico-USD, exact, of the tier that the reply names and of a
 * prompt of its length. What was used and has no price makes the call unpriced. Counts that cannot be true
 * are left out, and the price is then `legacy_estimated`.
 */
export function resolvePrice(catalog: Catalog, query: PriceQuery): PriceResolution {
  const { identity, usage } = query
  const models = modelsOf(catalog, identity)
  if (typeof models === 'string') return unpriced(models)
  const modifiers = query.billingModifiers.filter(
    (name) => name !== TIER || usage.tier === undefined,
  )
  if (modifiers.length > 0) return unpriced('unsupported_billing_modifier')
  const rate = effectiveRate(models.get(identity.model), query.at.getTime())
  if (rate === undefined) return unpriced('model_not_found')
  const sheet = sheetOf(rate, tierOf(rate, usage.tier, query.at))
  if (sheet === undefined) return unpriced('unsupported_billing_modifier')

  const { quantities, doubtful } = quantitiesOf(usage)
  const items: LineItem[] = []
  let costPicoUsd = 0n
  const add = (unit: string, quantity: number, picoUsdPerUnit: bigint) => {
    items.push({ unit, quantity, picoUsdPerUnit })
    costPicoUsd += BigInt(quantity) * picoUsdPerUnit
  }
  const included = includedIn(usage, (unit) => priceIn(sheet, rate, unit, usage.promptTokens))
  for (const { unit, quantity, missing, else: other } of quantities) {
    if (unit === included) continue
    const price = priceIn(sheet, rate, unit, usage.promptTokens)
    const found = price ?? (other && priceIn(sheet, rate, other, usage.promptTokens))
    if (found === undefined) return unpriced(missing)
    if (found === 'unknown_length') return unpriced('unsupported_context_tier')
    add(unit, quantity, found)
  }
  const each = priceIn(sheet, rate, 'request', usage.promptTokens)
  if (typeof each === 'bigint') add('request', 1, each)
  const status = doubtful || usage.doubt !== undefined ? 'legacy_estimated' : 'priced'
  return { status, costPicoUsd, rateId: rate.id, source: rate.source, items }
}

/** The tier that a reply names, or that all calls of the hour are of; undefined: the usual one. */
function tierOf({ hours }: ModelRate, named: string | undefined, at: Date): string | undefined {
  if (named !== undefined && named !== 'default') return named
  return hours.find((each) => isWithin(each, at))?.tier
}

function isWithin({ utc, weekdays, except }: Hours, at: Date): boolean {
  const [day = '', time = ''] = at.toISOString().split('T')
  if (except?.includes(day) || weekdays?.includes(at.getUTCDay() || 7) === false) return false
  return utc.some((span) => {
    const [from = '', to = ''] = span.split('-')
    return from < to ? from <= time && time < to : from <= time || time < to
  })
}

function sheetOf({ usual, tiers }: ModelRate, tier: string | undefined): PriceSheet | undefined {
  return tier === undefined ? usual : tiers.get(tier)
}

/** What a unit costs for a prompt of this length. Fees for each use are those of the usual tier. */
function priceIn(
  sheet: PriceSheet,
  { usual }: ModelRate,
  unit: string,
  promptTokens: number | undefined,
): bigint | 'unknown_length' | undefined {
  const name = unit as Unit
  const long = sheet.long.filter(({ prices }) => prices.has(name))
  if (long.length > 0 && promptTokens === undefined) return 'unknown_length'
  const longest = long.findLast(({ above }) => (promptTokens as number) > above)
  const price = (longest ?? sheet).prices.get(name)
  return price ?? (PIECES.has(unit) ? usual.prices.get(name) : undefined)
}

/** A call that is grounded in searches is sold by the call or by the search: one is in the other. */
function includedIn(
  { uses }: Usage,
  priceOf: (unit: Unit) => unknown,
): 'grounding' | 'web_search' | undefined {
  if (uses?.grounding === undefined || uses.web_search === undefined) return undefined
  return priceOf('grounding') === undefined ? 'grounding' : 'web_search'
}

/** What was used, in units that never overlap; zero and absent ones cost nothing. */
function quantitiesOf(usage: Usage): { quantities: Quantity[]; doubtful: boolean } {
  const { parts = {}, uses = {}, cacheWriteHour: hour = 0 } = usage
  const quantities: Quantity[] = []
  let doubtful = false
  const add = (unit: string, quantity: number, missing: UnpricedReason, other?: Unit) => {
    if (quantity === 0) return
    if (!Number.isSafeInteger(quantity) || quantity < 0) doubtful = true
    else quantities.push({ unit, quantity, missing, ...(other && { else: other }) })
  }
  const bucket = (
    unit: Unit,
    tokens: number | undefined,
    side: 'input' | 'cached' | 'output',
    missing: UnpricedReason,
  ) => {
    let text = tokens ?? 0
    for (const kind of ['audio', 'image', 'video'] as const) {
      const stated = parts[`${side}_${kind}`] ?? 0
      const part = Math.min(stated, Math.max(0, text))
      if (part < stated) doubtful = true
      // Pictures and videos that are put in cost what text does, unless the list says otherwise.
      const asText = kind !== 'audio' && side !== 'output' ? unit : undefined
      add(`${side}_${kind}`, part, missing, asText)
      text -= part
    }
    add(unit, text, missing)
  }
  bucket('input', usage.uncachedInput, 'input', 'missing_input_rate')
  bucket('cache_read', usage.cacheRead, 'cached', 'missing_cache_read_rate')
  const writes = usage.cacheWrite ?? 0
  if (hour > writes) doubtful = true
  const hours = Math.min(hour, Math.max(0, writes))
  add('cache_write', writes - hours, 'missing_cache_write_rate')
  const mixed = hours > 0 && hours < writes
  add('cache_write_1h', hours, mixed ? 'mixed_cache_write_ttl' : 'missing_cache_write_rate')
  bucket('output', usage.output, 'output', 'missing_output_rate')
  for (const [name, times] of Object.entries(uses)) add(name, times, 'unsupported_billing_modifier')
  return { quantities, doubtful }
}

/** What each unit costs on a route, for people to read. */
export function resolveRates(
  catalog: Catalog,
  identity: PricingIdentity,
  at: Date,
): RateResolution {
  const models = modelsOf(catalog, identity)
  if (typeof models === 'string') return unpriced(models)
  const rate = effectiveRate(models.get(identity.model), at.getTime())
  if (rate === undefined) return unpriced('model_not_found')
  const shown = (prices: PriceSheet['prices']) =>
    Object.fromEntries([...prices].map(([unit, pico]) => [unit, shownPrice(unit, pico)]))
  const sheet = ({ prices, long }: PriceSheet) => ({
    prices: shown(prices),
    longPrompts: long.map((each) => ({ aboveTokens: each.above, prices: shown(each.prices) })),
  })
  return {
    status: 'priced',
    rateId: rate.id,
    source: rate.source,
    usual: sheet(rate.usual),
    tiers: Object.fromEntries([...rate.tiers].map(([tier, own]) => [tier, sheet(own)])),
  }
}

function modelsOf(
  catalog: Catalog,
  { unpriceable, pricingProviderId }: PricingIdentity,
): ReadonlyMap<string, readonly ModelRate[]> | UnpricedReason {
  if (unpriceable !== undefined) return unpriceable
  if (pricingProviderId === undefined) return 'provider_pricing_source_missing'
  return catalog.get(pricingProviderId) ?? 'unsupported_pricing_provider_id'
}

function unpriced(reason: UnpricedReason) {
  return { status: 'unpriced', reason } as const
}

function effectiveRate(
  rates: readonly ModelRate[] | undefined,
  atMs: number,
): ModelRate | undefined {
  return rates?.find((rate) => rate.fromMs <= atMs && atMs < rate.untilMs)
}
