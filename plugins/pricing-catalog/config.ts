import type { ConfigDraft } from 'model-gateway/host'
import {
  configSection,
  DecimalString,
  isJsonObject,
  type Problem,
  Type,
} from 'model-gateway/plugin'
import { picoUsdPerToken } from './money.ts'
import { rateNames } from './snapshot.ts'

const rate = (what: string) =>
  Type.Optional(DecimalString({ description: `USD per million ${what}, a quoted decimal.` }))

export const PricingSection = Type.Object(
  {
    overrides: Type.Array(
      Type.Object(
        {
          pricing_provider_id: Type.String({
            minLength: 1,
            description: "The price list: a provider's pricing_provider_id.",
          }),
          model: Type.String({ minLength: 1, description: 'The upstream model, exactly.' }),
          input_usd_per_million: rate('uncached input tokens'),
          output_usd_per_million: rate('output tokens'),
          cache_read_usd_per_million: rate('input tokens read from a cache'),
          cache_write_usd_per_million: rate('input tokens written to a cache'),
        },
        { additionalProperties: false },
      ),
      { default: [], description: 'Each replaces all bundled prices of its model.' },
    ),
  },
  { additionalProperties: false, default: {} },
)

export const pricing = configSection('pricing', PricingSection)

/** What the schema cannot say: rates finer than the money unit, empty and repeated overrides. */
export function* checkPricing(draft: ConfigDraft): Iterable<Problem> {
  const section = draft.section('pricing')
  const overrides = isJsonObject(section) ? section.overrides : undefined
  if (!Array.isArray(overrides)) return
  const seen = new Map<string, number>()
  for (const [index, override] of overrides.entries()) {
    if (!isJsonObject(override)) continue
    const path = ['pricing', 'overrides', index]
    const keys = rateNames.map((name) => `${name}_usd_per_million`)
    if (!keys.some((key) => key in override)) {
      yield {
        path,
        message: 'an override without any rate leaves its model without a price',
        hint: `state at least one of ${keys.join(', ')}`,
      }
    }
    for (const key of keys) {
      const text = override[key]
      if (typeof text === 'string' && picoUsdPerToken(text) === undefined) {
        yield {
          path: [...path, key],
          message: `${text} is finer than a millionth of a USD per million tokens, which the ledger cannot hold exactly`,
          hint: 'use at most six decimals',
        }
      }
    }
    const identity = JSON.stringify([override.pricing_provider_id, override.model])
    const first = seen.get(identity)
    if (first === undefined) seen.set(identity, index)
    else {
      yield {
        path,
        message: `the same pricing_provider_id and model as pricing.overrides.${first}`,
        hint: 'keep one of them',
      }
    }
  }
}
