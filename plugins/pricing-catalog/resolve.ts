import type { PriceQuery, PriceResolution, UnpricedReason, Usage } from 'model-gateway/plugin'
import type { Catalog, ModelRate } from './catalog.ts'
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
  if (identity.unpriceable !== undefined) return unpriced(identity.unpriceable)
  if (identity.pricingProviderId === undefined) return unpriced('provider_pricing_source_missing')
  const models = catalog.get(identity.pricingProviderId)
  if (models === undefined) return unpriced('unsupported_pricing_provider_id')
  if (query.billingModifiers.length > 0) return unpriced('unsupported_billing_modifier')
  const rate = effectiveRate(models.get(identity.model), query.at.getTime())
  if (rate === undefined) return unpriced('model_not_found')

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
    const perToken = rate.perToken[bucket.rate]
    if (perToken === undefined) {
      const tiered = rate.tiered.includes(bucket.rate)
      return unpriced(tiered ? 'unsupported_context_tier' : bucket.missing)
    }
    costPicoUsd += BigInt(tokens) * perToken
  }
  return { status: doubtful ? 'legacy_estimated' : 'priced', costPicoUsd, rateId: rate.id }
}

function unpriced(reason: UnpricedReason): PriceResolution {
  return { status: 'unpriced', reason }
}

function effectiveRate(
  rates: readonly ModelRate[] | undefined,
  atMs: number,
): ModelRate | undefined {
  return rates?.find((rate) => rate.fromMs <= atMs && atMs < rate.untilMs)
}
