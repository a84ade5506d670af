import type { Prices } from '../_shared/sheet.ts'
import { shifted } from './decimal.ts'

/** The parts that we read of the snapshot of model-prices: models.dev with corrections. */
export interface ModelsDev {
  readonly prices: Readonly<
    Record<string, Readonly<Record<string, { readonly standard?: readonly Dated[] }>>>
  >
}
interface Dated {
  readonly start: string | null
  readonly rates: Readonly<Record<string, unknown>>
}

const listOf: Readonly<Record<string, string>> = {
  anthropic: 'anthropic',
  cohere: 'cohere',
  deepseek: 'deepseek',
  'google-vertex': 'google',
  'google-vertex-anthropic': 'anthropic',
  mistral: 'mistral',
  moonshotai: 'moonshotai',
  openai: 'openai',
  perplexity: 'perplexity',
  'x-ai': 'xai',
  zai: 'zai',
}

/** Prices of text on a day; a third opinion. */
export function textPrices(
  list: ModelsDev,
  provider: string,
  model: string,
  today: string,
): Prices {
  const models = list.prices[listOf[provider] ?? '']
  const dated =
    models !== undefined && Object.hasOwn(models, model) ? models[model]?.standard : undefined
  const rates = dated?.findLast(({ start }) => start === null || start.slice(0, 10) <= today)?.rates
  const prices: Prices = {}
  for (const unit of ['input', 'output', 'cache_read', 'cache_write'] as const) {
    const price = rates?.[unit]
    const decimal = typeof price === 'string' ? shifted(price) : undefined
    if (decimal !== undefined) prices[unit] = decimal
  }
  return prices
}
