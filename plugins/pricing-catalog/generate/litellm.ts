import { picoUsd } from '../_shared/money.ts'
import { type Prices, pieceUnits, type Sheet, type Unit } from '../_shared/sheet.ts'
import { product, rounded, shifted } from './decimal.ts'

/** An entry of the price file of LiteLLM; numbers are text, prices are USD per token or piece. */
export type LiteLlmEntry = Readonly<Record<string, unknown>>

const units: Readonly<Record<string, Unit>> = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cache_read',
  cache_creation_input_token_cost: 'cache_write',
  cache_creation_input_token_cost_above_1hr: 'cache_write_1h',
  input_cost_per_audio_token: 'input_audio',
  cache_read_input_audio_token_cost: 'cached_audio',
  output_cost_per_audio_token: 'output_audio',
  input_cost_per_image_token: 'input_image',
  cache_read_input_image_token_cost: 'cached_image',
  output_cost_per_image_token: 'output_image',
  input_cost_per_video_token: 'input_video',
  output_cost_per_video_token: 'output_video',
  input_cost_per_query: 'search_unit',
  input_cost_per_character: 'character',
  input_cost_per_second: 'audio_second',
  output_cost_per_second: 'audio_second',
  output_cost_per_image: 'image',
  ocr_cost_per_page: 'page',
}

/** Tiers by their name in replies. */
const tierNames: Readonly<Record<string, string>> = {
  flex: 'flex',
  priority: 'priority',
  batches: 'batch',
  ultrafast: 'ultrafast',
}

/** Modes whose price is per unit that the gateway counts. */
const modes = new Set([
  ...['chat', 'responses', 'completion', 'embedding', 'rerank', 'ocr', 'realtime'],
  ...['audio_transcription', 'audio_speech', 'image_generation', 'image_edit'],
])

/** Modes that generate images; in other modes, a price per image is an estimate of tokens. */
const PICTURES: ReadonlySet<unknown> = new Set(['image_generation', 'image_edit'])

const PIECES: ReadonlySet<Unit> = new Set(pieceUnits)

/** The prices of a model, standard and by tier. */
export interface LiteLlmPrices {
  readonly usual: Sheet
  readonly tiers: Readonly<Record<string, Sheet>>
}

/** Undefined if it is sold by none of the known units. */
export function pricesOf(entry: LiteLlmEntry): LiteLlmPrices | undefined {
  if (!modes.has(String(entry.mode))) return undefined
  const sheets = new Map<string, { prices: Prices; long: Map<number, Prices> }>()
  const sheet = (tier: string) => {
    const known = sheets.get(tier) ?? { prices: {}, long: new Map<number, Prices>() }
    sheets.set(tier, known)
    return known
  }
  for (const [key, value] of Object.entries(entry)) {
    const [, name = '', above, suffix] =
      /^(.*?)(?:_above_(\d+)k_tokens)?(?:_(flex|priority|batches|ultrafast))?$/.exec(key) ?? []
    const unit = unitOf(name, entry)
    if (unit === undefined || typeof value !== 'string') continue
    const decimal = shifted(value, PIECES.has(unit) ? 3 : 6)
    // A zero price means that the unit is not sold, such as the output of embeddings.
    if (decimal === undefined || decimal === '0' || picoUsd(unit, decimal) === undefined) continue
    const { prices, long } = sheet(tierNames[suffix ?? ''] ?? '')
    // Some entries have the price of audio seconds twice.
    if (above === undefined) prices[unit] ??= decimal
    else long.set(Number(above) * 1000, { ...long.get(Number(above) * 1000), [unit]: decimal })
  }
  const read = [...sheets].map(([tier, { prices, long }]) => [tier, sheetOf(prices, long)] as const)
  const { '': usual = {}, ...tiers } = Object.fromEntries(read)
  return {
    usual: { ...withoutDoubles(usual, entry), ...feesOf(entry) },
    tiers: sensible(usual, tiers),
  }
}

/** An input image price is an output price if the entry has no other price. */
function unitOf(name: string, entry: LiteLlmEntry): Unit | undefined {
  const isOnly = name === 'input_cost_per_image' && entry.input_cost_per_token === undefined
  return isOnly ? 'image' : units[name]
}

function sheetOf(prices: Prices, long: ReadonlyMap<number, Prices>): Sheet {
  // If a length has no input price, its other prices are leftovers of another model.
  const byLength = [...long]
    .filter(([, { input }]) => input !== undefined)
    .map(([above, prices]) => ({ above, prices }))
    .sort((one, other) => one.above - other.above)
  return byLength.length === 0 ? prices : { ...prices, long: byLength }
}

/**
 * No price for output with two prices, or for prices that vary within the day; per-second prices
 * are estimates of tokens.
 */
function withoutDoubles({ ...sheet }: Sheet, entry: LiteLlmEntry): Sheet {
  const { output_cost_per_reasoning_token: reasoning } = entry
  if (entry.off_peak_pricing !== undefined) return {}
  if (typeof reasoning === 'string' && shifted(reasoning, 6) !== sheet.output) delete sheet.output
  // Without an input price, the model is not sold by tokens.
  if (sheet.input === undefined) delete sheet.output
  else {
    delete sheet.audio_second
    delete sheet.search_unit
  }
  if (sheet.output_image !== undefined || !PICTURES.has(entry.mode)) delete sheet.image
  return sheet
}

/** A key with the quality and size of pictures: `azure/hd/1024-x-1792/dall-e-3`. */
const SIZED = /^(.*?)(?:([a-z]+)\/)?(\d+)-x-(\d+)\/([^/]+)$/

/**
 * The entries of models that are sold by the quality and size of each picture alone, in one entry for each
 * model under its own key: the usual one is square, and other qualities and sizes are tiers.
 */
export function withSizes(
  entries: Readonly<Record<string, LiteLlmEntry>>,
): readonly (readonly [string, LiteLlmPrices, LiteLlmEntry])[] {
  const models = new Map<string, [LiteLlmEntry, Map<string, Sheet>]>()
  for (const [key, entry] of Object.entries(entries)) {
    const [, seller = '', quality = USUAL_QUALITY, width = '', height = '', model = ''] =
      SIZED.exec(key) ?? []
    const image = model === '' ? undefined : pixelsPrice(entry, width, height)
    if (image === undefined || `${seller}${model}` in entries) continue
    const [, tiers] = models.get(`${seller}${model}`) ?? [entry, new Map<string, Sheet>()]
    models.set(`${seller}${model}`, [entry, tiers])
    const parts = quality === USUAL_QUALITY ? [] : [`quality=${quality}`]
    tiers.set([...parts, `size=${width}x${height}`].join('+'), { image })
    if (width === height) tiers.set(parts.join('+'), { image })
  }
  return [...models].map(([key, [entry, sheets]]) => {
    const { '': usual = {}, ...tiers } = Object.fromEntries(sheets)
    return [key, { usual, tiers }, entry] as const
  })
}

const USUAL_QUALITY = 'standard'

/**
 * USD per thousand images. The price per pixel is rounded, but images cost whole tenths of a cent.
 */
function pixelsPrice(entry: LiteLlmEntry, width: string, height: string): string | undefined {
  const { input_cost_per_pixel: each } = entry
  const exact = typeof each === 'string' ? shifted(each) : undefined
  if (exact === undefined || !PICTURES.has(entry.mode)) return undefined
  const cents = rounded(product(product(exact, width), height), 4)
  return cents === '0' ? undefined : shifted(cents, 3)
}

/** Removes a tier without long-prompt prices, if the standard tier has them. */
function sensible(usual: Sheet, tiers: Record<string, Sheet>): Record<string, Sheet> {
  const known = Object.entries(tiers).filter(
    ([, { input, long }]) =>
      input !== undefined && (long !== undefined || usual.long === undefined),
  )
  return Object.fromEntries(known)
}

function feesOf(entry: LiteLlmEntry): Prices {
  const sizes = new Set(Object.values(entry.search_context_cost_per_query ?? {}))
  const [each] = sizes
  // Prices per context size are not one price.
  const price = sizes.size === 1 ? shifted(String(each), 3) : undefined
  if (price === undefined) return {}
  // Google charges searches of older models per prompt.
  const perPrompt =
    entry.google_maps_grounding_cost_per_query !== undefined &&
    entry.web_search_billing_unit !== 'per_query'
  return { [perPrompt ? 'grounding' : 'web_search']: price }
}
