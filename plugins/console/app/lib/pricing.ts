/** What the ledger says of a price, as people say it. */
export const pricingNames: Readonly<Record<string, string>> = {
  priced: 'priced',
  legacy_estimated: 'estimated',
  unpriced: 'no price',
  usage_missing: 'usage missing',
}

export function pricingTone(status: string): 'good' | 'plain' | 'warn' {
  return status === 'priced' ? 'good' : status === 'legacy_estimated' ? 'plain' : 'warn'
}

const reasons: Readonly<Record<string, string>> = {
  provider_pricing_source_missing:
    'The provider names no price list: set pricing_provider_id on it in the config file.',
  unsupported_pricing_provider_id:
    'There is no price list of this name: correct pricing_provider_id of the provider, or set prices under pricing.overrides.',
  model_not_found:
    'The price list does not have this model: set a price for it under pricing.overrides.',
  unsupported_publisher: 'The publisher of this model is in no price list: use pricing.overrides.',
  unsupported_location: 'The price list has no price for this location: use pricing.overrides.',
  unsupported_billing_modifier:
    'The call used something that is billed in another way, such as a service tier.',
  unsupported_context_tier:
    'The input is longer than those that the price list has a price for: use pricing.overrides.',
  mixed_cache_write_ttl: 'The call wrote to caches of two lifetimes, whose prices differ.',
}

/** Why there is no price, and what to do about it. */
export function reasonText(reason: string): string {
  const missing = /^missing_(.*)_rate$/.exec(reason)
  if (missing !== null) {
    return `The price of ${missing[1]?.replaceAll('_', ' ')} tokens is not known: set it under pricing.overrides.`
  }
  return reasons[reason] ?? reason.replaceAll('_', ' ')
}
