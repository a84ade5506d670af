import type { Prices } from '../_shared/sheet.ts'
import { shifted } from './decimal.ts'

/** The used members of the snapshot of model-prices: models.dev with corrections. */
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

/** Sold by other units than text; the list has only one text price for it. */
const NOT_TEXT = /image|live|audio|tts|transcribe|omni|voice|robotics|embed|moderation/

/** Text models that are in no other list, with their prices. */
export function otherModels(
  list: ModelsDev,
  provider: string,
  known: ReadonlySet<string>,
  today: string,
): [model: string, prices: Prices][] {
  // At Google, third-party models have other names.
  if (provider === 'google-vertex-anthropic') return []
  const names = Object.keys(list.prices[listOf[provider] ?? ''] ?? {})
  return (
    names
      .filter((name) => !known.has(name) && !NOT_TEXT.test(name))
      // Skipped, because long-prompt prices are not read.
      .filter((name) => ratesOf(list, provider, name, today)?.tiers === undefined)
      .map((name): [string, Prices] => [name, textPrices(list, provider, name, today)])
      .filter(([, { input, output }]) => isPrice(input) && isPrice(output))
  )
}

/** Skip free models: they are previews without a known end. */
function isPrice(price: string | undefined): boolean {
  return price !== undefined && price !== '0'
}

/** Text prices on a day, as a third opinion. */
export function textPrices(
  list: ModelsDev,
  provider: string,
  model: string,
  today: string,
): Prices {
  const rates = ratesOf(list, provider, model, today)
  const prices: Prices = {}
  for (const unit of ['input', 'output', 'cache_read', 'cache_write'] as const) {
    const price = rates?.[unit]
    const decimal = typeof price === 'string' ? shifted(price) : undefined
    if (decimal !== undefined) prices[unit] = decimal
  }
  return prices
}

function ratesOf(list: ModelsDev, provider: string, model: string, today: string) {
  const models = list.prices[listOf[provider] ?? '']
  const dated =
    models !== undefined && Object.hasOwn(models, model) ? models[model]?.standard : undefined
  return dated?.findLast(({ start }) => start === null || start.slice(0, 10) <= today)?.rates
}
