import type { PriceQuery, PriceResolution, RateResolution } from 'model-gateway/accounting'
import type { PricingIdentity, UnpricedReason } from 'model-gateway/provider'
import type { BesideText, Usage } from 'model-gateway/wire'
import type { Catalog, ModelRate } from './catalog.ts'
import { usdPerMillion } from './money.ts'
import type { RateName } from './snapshot.ts'

const buckets = [
  { rate: 'input', tokens: (usage: Usage) => usage.uncachedInput, missing: 'missing_input_rate' },
  { rate: 'output', tokens: (usage: Usage) => usage.output, missing: 'missing_output_rate' },
  {
    rate: 'cache_read',
    tokens: (usage: Usage) => usage.cacheRead,
    missing: 'missing_cache_read_rate',
  },
  {
    rate: 'cache_write',
    tokens: (usage: Usage) => usage.cacheWrite,
    missing: 'missing_cache_write_rate',
  },
] as const satisfies readonly {
  readonly rate: RateName
  readonly tokens: (usage: Usage) => number | undefined
  readonly missing: UnpricedReason
}[]

/**
 * The price of a call: Σ tokens × rate in pico-USD, exact. A bucket with tokens in it and without
 * a rate makes the call unpriced. Counts that cannot be true are left out, and the price is then
 * `legacy_estimated`.
 */
export function resolvePrice(catalog: Catalog, query: PriceQuery): PriceResolution {
  const { identity, usage } = query
  const models = modelsOf(catalog, identity)
  if (typeof models === 'string') return unpriced(models)
  if (query.billingModifiers.length > 0) return unpriced('unsupported_billing_modifier')
  const rate = effectiveRate(models.get(identity.model), query.at.getTime())
  if (rate === undefined) return unpriced('model_not_found')

  for (const kind of usage.besideText ?? []) {
    const reason = withoutRate(kind, rate)
    if (reason !== undefined) return unpriced(reason)
  }

  // The catalogue's rate is that of writes for five minutes.
  const { cacheWrite, cacheWriteHour } = usage
  if (cacheWriteHour !== undefined) {
    return unpriced(
      cacheWriteHour === cacheWrite ? 'missing_cache_write_rate' : 'mixed_cache_write_ttl',
    )
  }

  let costPicoUsd = 0n
  let doubtful = usage.doubt !== undefined
  for (const bucket of buckets) {
    const tokens = bucket.tokens(usage)
    if (tokens === undefined || tokens === 0) continue
    if (!Number.isSafeInteger(tokens) || tokens < 0) {
      doubtful = true
      continue
    }
    if (rate.tiered.includes(bucket.rate) && !isWithin(rate, usage.promptTokens)) {
      return unpriced('unsupported_context_tier')
    }
    const perToken = rate.perToken[bucket.rate]
    if (perToken === undefined) return unpriced(bucket.missing)
    costPicoUsd += BigInt(tokens) * perToken
  }
  return { status: doubtful ? 'legacy_estimated' : 'priced', costPicoUsd, rateId: rate.id }
}

/** Whether the rates that depend on the length of the prompt are those of this one. */
function isWithin({ longestPrompt }: ModelRate, promptTokens: number | undefined): boolean {
  return longestPrompt !== undefined && promptTokens !== undefined && promptTokens <= longestPrompt
}

/** Why this may not cost what text does; undefined: its tokens have the rate of their bucket. */
function withoutRate(kind: BesideText, { apart }: ModelRate): UnpricedReason | undefined {
  switch (kind) {
    case 'hosted_tool':
      return 'unsupported_billing_modifier'
    case 'input_image':
    case 'input_video':
      return apart.includes(kind) ? 'missing_input_rate' : undefined
    case 'input_audio':
      return 'missing_input_rate'
    default:
      return 'missing_output_rate'
  }
}

/** What a million tokens of each kind cost on a route. */
export function resolveRates(
  catalog: Catalog,
  identity: PricingIdentity,
  at: Date,
): RateResolution {
  const models = modelsOf(catalog, identity)
  if (typeof models === 'string') return unpriced(models)
  const rate = effectiveRate(models.get(identity.model), at.getTime())
  if (rate === undefined) return unpriced('model_not_found')
  const { input, output, cache_read, cache_write } = rate.perToken
  const shown = (picoUsd: bigint | undefined) =>
    picoUsd === undefined ? undefined : usdPerMillion(picoUsd)
  return {
    status: 'priced',
    rateId: rate.id,
    source: rate.source,
    usdPerMillion: {
      input: shown(input),
      output: shown(output),
      cache_read: shown(cache_read),
      cache_write: shown(cache_write),
    },
    ...(rate.longestPrompt === undefined ? {} : { longestPrompt: rate.longestPrompt }),
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
