/** Labels of the pricing statuses in the ledger. */
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
    'The provider has no price list. Set its pricing_provider_id in the config file.',
  unsupported_pricing_provider_id:
    'The price list does not exist. Correct pricing_provider_id of the provider, or set prices under pricing.overrides.',
  model_not_found:
    'The price list does not contain this model. Set a price for it under pricing.overrides.',
  unsupported_publisher:
    'No price list contains the publisher of this model. Set a price under pricing.overrides.',
  unsupported_location:
    'The price list has no price for this region. Set a price under pricing.overrides.',
  unsupported_billing_modifier:
    'The call used an option with separate pricing, such as a service tier.',
  unsupported_context_tier:
    'The price list has no price for an input of this length. Set a price under pricing.overrides.',
  mixed_cache_write_ttl:
    'The call wrote to caches with two lifetimes, which have different prices.',
}

/** Why a call has no price, and how to fix it. */
export function reasonText(reason: string): string {
  const missing = /^missing_(.*)_rate$/.exec(reason)
  if (missing !== null) {
    return `The price list has no price for ${missing[1]?.replaceAll('_', ' ')} tokens. Set it under pricing.overrides.`
  }
  return reasons[reason] ?? reason.replaceAll('_', ' ')
}
