import type {
  LineItem,
  PriceQuery,
  PriceResolution,
  RateResolution,
} from 'model-gateway/accounting'
import { isWildcard } from 'model-gateway/host'
import type { PricingIdentity, UnpricedReason } from 'model-gateway/provider'
import type { Usage } from 'model-gateway/wire'
import { shownPrice, statedPicoUsd } from './_shared/money.ts'
import { type Hours, pieceUnits, tokenUnits, type Unit } from './_shared/sheet.ts'
import {
  type Catalog,
  type ModelRate,
  type PriceList,
  type PriceSheet,
  ratesOf,
} from './catalog.ts'

/** A quantity of a unit, with its fallback prices. */
interface Quantity {
  readonly unit: string
  readonly quantity: number
  readonly missing: UnpricedReason
  /** The units whose price applies if the unit has none. */
  readonly else?: Unit
}

const PIECES: ReadonlySet<string> = new Set(pieceUnits)
/** Without `request`, so that a tool of that name does not get the price of a call. */
const USES: ReadonlySet<string> = new Set(pieceUnits.filter((unit) => unit !== 'request'))
/** Tools that cost only tokens, according to their vendors, unless the list has a fee. */
const FREE: ReadonlySet<string> = new Set(['web_fetch', 'mcp'])
/** Units that are sold by the piece or by tokens; replies may count both. */
const OR_TOKENS: ReadonlySet<string> = new Set(['image', 'search_unit'])
const TOKENS: ReadonlySet<string> = new Set(tokenUnits)
/** Image properties that change the price of models with a price for them. */
const VARIES = /^(?:quality|size)(?==)/
/** Upper limit of a plausible cost; a higher stated cost is an error of the seller. */
const MOST_STATED = 100_000n * 10n ** 12n

/**
 * The price of a call: Σ quantity × price in pico-USD, exact, for the tier in the reply and the
 * length of the prompt; or the cost stated by the seller, on routes that bill it. A used unit
 * without a price makes the call unpriced. Implausible counts are left out, and the status is then
 * `legacy_estimated`.
 */
export function resolvePrice(catalog: Catalog, query: PriceQuery): PriceResolution {
  const { identity, usage } = query
  const stated = identity.billsStatedCost === true ? usage.statedUsd : undefined
  if (stated === undefined) return listedPrice(catalog, query)
  const amounts = stated.flatMap((amount) => statedPicoUsd(amount) ?? [])
  if (amounts.length < stated.length || amounts.some((amount) => amount > MOST_STATED)) {
    const listed = listedPrice(catalog, query)
    if (listed.status === 'unpriced') return listed
    return {
      ...listed,
      status: 'legacy_estimated',
      doubt: listed.doubt ?? 'stated_cost_unreadable',
    }
  }
  const costPicoUsd = amounts.reduce((sum, amount) => sum + amount, 0n)
  return {
    status: usage.doubt === undefined ? 'priced' : 'legacy_estimated',
    costPicoUsd,
    source: 'seller',
    items: [{ unit: 'seller', quantity: 1, picoUsdPerUnit: costPicoUsd }],
  }
}

/** The price of a call according to the list. */
function listedPrice(catalog: Catalog, query: PriceQuery): PriceResolution {
  const { identity, usage } = query
  const models = modelsOf(catalog, identity)
  if (typeof models === 'string') return unpriced(models)
  const rate = effectiveRate(ratesOf(models, identity.model), query.at.getTime())
  if (query.billingModifiers.some((name) => !isAnswered(name, usage, rate))) {
    return unpriced('unsupported_billing_modifier')
  }
  if (rate === undefined) return unpriced('model_not_found')
  const sheet = sheetOf(rate, usage.tier, query.at)
  if (sheet === undefined) return unpriced('unsupported_billing_modifier')

  const { quantities, doubtful } = quantitiesOf(usage)
  const items: LineItem[] = []
  let costPicoUsd = 0n
  const add = (unit: string, quantity: number, picoUsdPerUnit: bigint) => {
    items.push({ unit, quantity, picoUsdPerUnit })
    costPicoUsd += BigInt(quantity) * picoUsdPerUnit
  }
  const priceOf = ({ unit, else: other }: Quantity) =>
    priceIn(sheet, rate, unit, usage.promptTokens) ??
    (other && priceIn(sheet, rate, other, usage.promptTokens))
  const included = includedIn(quantities, priceOf)
  for (const used of quantities) {
    const { unit, quantity, missing } = used
    if (included.has(unit)) continue
    const found = priceOf(used)
    if (found === undefined && FREE.has(unit)) continue
    if (found === undefined) return unpriced(missing)
    if (found === 'unknown_length') return unpriced('unsupported_context_tier')
    add(unit, quantity, found)
  }
  const each = priceIn(sheet, rate, 'request', usage.promptTokens)
  if (each === 'unknown_length') return unpriced('unsupported_context_tier')
  if (each !== undefined) add('request', 1, each)
  const doubt = doubtful ? 'impossible_quantity' : undefined
  const status = (doubt ?? usage.doubt) === undefined ? 'priced' : 'legacy_estimated'
  return { status, costPicoUsd, rateId: rate.id, source: rate.source, items, doubt }
}

function isWithin({ utc, weekdays, except }: Hours, at: Date): boolean {
  const [day = '', time = ''] = at.toISOString().split('T')
  if (except?.includes(day) || weekdays?.includes(at.getUTCDay() || 7) === false) return false
  return utc.some((span) => {
    const [from = '', to = ''] = span.split('-')
    return from < to ? from <= time && time < to : from <= time || time < to
  })
}

/** Whether the reply reports a requested option that may change the price. */
function isAnswered(name: string, { tier, uses }: Usage, rate: ModelRate | undefined): boolean {
  // Searches are counted, or included in the price of each call.
  if (name === 'web_search_options') {
    return uses?.web_search !== undefined || rate?.usual.prices.has('request') === true
  }
  const parts = tier?.split('+') ?? []
  return name === 'service_tier'
    ? parts.some((part) => !part.includes('='))
    : parts.some((part) => part.startsWith(`${name}=`))
}

/**
 * The prices of the tier in the reply, or of the tier of the current hours. Standard values in the
 * reply are not part of the tier's name.
 */
function sheetOf(
  { usual, tiers, hours }: ModelRate,
  named: string | undefined,
  at: Date,
): PriceSheet | undefined {
  const parts = named?.split('+') ?? []
  const isPriced = (varied: string) => [...tiers.keys()].some((tier) => tier.includes(`${varied}=`))
  const unusual = parts.filter((part) => {
    const [varied] = VARIES.exec(part) ?? []
    return (
      part !== 'default' &&
      !part.endsWith('=standard') &&
      (varied === undefined || isPriced(varied))
    )
  })
  // A speed is sold as a tier with its name.
  const name = unusual.join('+').replace(/(^|\+)speed=/, '$1')
  const tier = name === '' ? hours.find((each) => isWithin(each, at))?.tier : name
  return tier === undefined ? usual : tiers.get(tier)
}

/** The price of a unit for a prompt of this length. Fees per use are those of the standard tier. */
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

/**
 * Units that share a price with another counted unit: a grounded call is priced per call or per
 * search, and images by the piece or by tokens.
 */
function includedIn(
  quantities: readonly Quantity[],
  priceOf: (used: Quantity) => unknown,
): ReadonlySet<string> {
  const included = new Set<string>()
  const find = (unit: string) => quantities.find((each) => each.unit === unit)
  const [call, search] = [find('grounding'), find('web_search')]
  if (call !== undefined && search !== undefined) {
    included.add(priceOf(call) === undefined ? 'grounding' : 'web_search')
  }
  const tokens = quantities.filter(({ unit }) => TOKENS.has(unit))
  const free = tokens.filter((each) => priceOf(each) === undefined)
  for (const piece of quantities.filter(({ unit }) => OR_TOKENS.has(unit))) {
    if (priceOf(piece) !== undefined) for (const { unit } of free) included.add(unit)
    else if (free.length < tokens.length) included.add(piece.unit)
  }
  return included
}

/** The used quantities, in units that do not overlap; zero and absent ones cost nothing. */
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
      // Input images and videos cost the same as text, unless the list has a price.
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
  for (const [name, times] of Object.entries(uses)) {
    const unit = USES.has(name) || FREE.has(name) ? name : `use:${name}`
    add(unit, times, unit === 'image' ? 'missing_output_rate' : 'unsupported_billing_modifier')
  }
  return { quantities, doubtful }
}

/** The price of each unit on a route, for display. */
export function resolveRates(
  catalog: Catalog,
  identity: PricingIdentity,
  at: Date,
): RateResolution {
  const models = modelsOf(catalog, identity)
  if (typeof models === 'string') return unpriced(models)
  const rate = effectiveRate(ratesOf(models, identity.model), at.getTime())
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

/** The full names of the models that have prices in a list at a time. */
export function pricedModels(catalog: Catalog, pricingProviderId: string, at: Date): string[] {
  const list = catalog.get(pricingProviderId) ?? new Map()
  return [...list]
    .filter(([name, rates]) => !isWildcard(name) && effectiveRate(rates, at.getTime()))
    .map(([name]) => name)
}

function modelsOf(
  catalog: Catalog,
  { unpriceable, pricingProviderId }: PricingIdentity,
): PriceList | UnpricedReason {
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
