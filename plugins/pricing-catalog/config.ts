import type { ConfigDraft } from 'model-gateway/host'
import {
  configSection,
  DecimalString,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Problem,
  Type,
} from 'model-gateway/plugin'
import { decimalsOf, picoUsd } from './_shared/money.ts'
import { pieceUnits, tokenUnits, type Unit } from './_shared/sheet.ts'

const WHAT: Readonly<Record<Unit, string>> = {
  input: 'uncached input tokens',
  output: 'output tokens',
  cache_read: 'input tokens read from a cache',
  cache_write: 'input tokens written to a cache (for five minutes, if the lifetime matters)',
  cache_write_1h: 'input tokens written to a cache for an hour',
  input_audio: 'audio tokens of the input',
  cached_audio: 'audio tokens read from a cache',
  output_audio: 'audio tokens of the output',
  input_image: 'image tokens of the input (default: as input)',
  cached_image: 'image tokens read from a cache (default: as cache_read)',
  output_image: 'image tokens of the output',
  input_video: 'video tokens of the input (default: as input)',
  cached_video: 'video tokens read from a cache (default: as cache_read)',
  output_video: 'video tokens of the output',
  request: 'calls, in addition to their tokens',
  web_search: 'web searches by the upstream',
  web_fetch: 'pages that the upstream fetches',
  code_execution: 'runs of code by the upstream',
  container: 'containers that the upstream starts for code',
  file_search: 'searches of files by the upstream',
  grounding: 'calls that the upstream grounds in a search',
  server_side_tool: 'uses of upstream tools that the upstream counts together',
  source: 'sources that the upstream used',
  search_unit: 'searches, as a reranker counts them',
  page: 'pages of documents that are processed',
  character: 'characters of text that are converted to speech',
  audio_second: 'seconds of audio that are transcribed or generated',
  image: 'generated images; tiers such as quality=hd+size=1024x1792 set the prices of other sizes',
}

const price = (unit: Unit, per: string) =>
  Type.Optional(DecimalString({ description: `USD per ${per} ${WHAT[unit]}. A quoted decimal.` }))

const members = {
  ...Object.fromEntries(
    tokenUnits.map((unit) => [`${unit}_usd_per_million`, price(unit, 'million')]),
  ),
  ...Object.fromEntries(
    pieceUnits.map((unit) => [`${unit}_usd_per_thousand`, price(unit, 'thousand')]),
  ),
} as Record<PriceKey, ReturnType<typeof price>>

type PriceKey =
  | `${(typeof tokenUnits)[number]}_usd_per_million`
  | `${(typeof pieceUnits)[number]}_usd_per_thousand`

const strict = { additionalProperties: false }
const sheet = {
  ...members,
  long_prompts: Type.Optional(
    Type.Array(
      Type.Object(
        {
          above_tokens: Type.Integer({
            minimum: 1,
            description:
              'If a prompt has more tokens than this, these prices apply to the whole prompt.',
          }),
          ...members,
        },
        strict,
      ),
      {
        description:
          'Prices of longer prompts, shortest first; prices that are omitted stay the same.',
      },
    ),
  ),
}

const hours = Type.Object(
  {
    tier: Type.String({ minLength: 1, description: 'Name of one of `tiers`.' }),
    utc: Type.Array(
      Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d-([01]\\d|2[0-3]):[0-5]\\d$' }),
      {
        minItems: 1,
        description: 'Such as "01:00-04:00"; the end is exclusive.',
      },
    ),
    weekdays: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
        description: '1 is Monday; default: every day.',
      }),
    ),
    except: Type.Optional(
      Type.Array(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }), {
        description: 'Days, such as holidays, on which these hours do not apply.',
      }),
    ),
  },
  strict,
)

export const PricingSection = Type.Object(
  {
    overrides: Type.Array(
      Type.Object(
        {
          pricing_provider_id: Type.String({
            minLength: 1,
            description: "The price list: a provider's pricing_provider_id.",
          }),
          model: Type.String({
            minLength: 1,
            description:
              'The exact upstream model, or a pattern with one * for models without an exact entry.',
          }),
          ...sheet,
          tiers: Type.Optional(
            Type.Record(Type.String({ minLength: 1 }), Type.Object(sheet, strict), {
              description:
                'Prices of other service tiers, by their name in replies, such as flex, priority or batch. A price that a tier omits does not exist in that tier, except fees per use.',
            }),
          ),
          hours: Type.Optional(
            Type.Array(hours, {
              description:
                'Hours in which calls whose reply names no tier use the prices of a tier.',
            }),
          ),
        },
        strict,
      ),
      { default: [], description: 'Each entry replaces all bundled prices of its model.' },
    ),
  },
  { additionalProperties: false, default: {} },
)

export const pricing = configSection('pricing', PricingSection)

const unitOf = new Map<string, Unit>([
  ...tokenUnits.map((unit) => [`${unit}_usd_per_million`, unit] as const),
  ...pieceUnits.map((unit) => [`${unit}_usd_per_thousand`, unit] as const),
])

/**
 * Checks that the schema cannot express: prices finer than pico-USD, and empty or repeated
 * overrides.
 */
export function* checkPricing(draft: ConfigDraft): Iterable<Problem> {
  const section = draft.section('pricing')
  const overrides = isJsonObject(section) ? section.overrides : undefined
  if (!Array.isArray(overrides)) return
  const seen = new Map<string, number>()
  for (const [index, override] of overrides.entries()) {
    if (!isJsonObject(override)) continue
    const path = ['pricing', 'overrides', index]
    if (!Object.keys(override).some((key) => unitOf.has(key))) {
      yield {
        path,
        message: 'an override without a rate leaves its model without a price',
        hint: 'set at least one, such as input_usd_per_million',
      }
    }
    yield* checkSheet(override, path)
    const tiers = isJsonObject(override.tiers) ? override.tiers : {}
    for (const [tier, own] of Object.entries(tiers)) {
      if (isJsonObject(own)) yield* checkSheet(own, [...path, 'tiers', tier])
    }
    yield* checkHours(override.hours, Object.keys(tiers), path)
    if (typeof override.model === 'string' && override.model.split('*').length > 2) {
      yield {
        path: [...path, 'model'],
        message: `${override.model} has more than one *`,
        hint: 'use one *, which matches any text, as in llama-*',
      }
    }
    const identity = JSON.stringify([override.pricing_provider_id, override.model])
    const first = seen.get(identity)
    if (first === undefined) seen.set(identity, index)
    else {
      yield {
        path,
        message: `has the same pricing_provider_id and model as pricing.overrides.${first}`,
        hint: 'keep one of them',
      }
    }
  }
}

type Path = readonly (string | number)[]

function* checkHours(
  hours: JsonValue | undefined,
  tiers: readonly string[],
  path: Path,
): Iterable<Problem> {
  for (const [at, each] of (Array.isArray(hours) ? hours : []).entries()) {
    if (!isJsonObject(each) || typeof each.tier !== 'string' || tiers.includes(each.tier)) continue
    yield {
      path: [...path, 'hours', at, 'tier'],
      message: `tier ${each.tier} does not exist in the tiers of this override`,
      hint: tiers.length === 0 ? 'set its prices in tiers' : `the tiers are ${tiers.join(', ')}`,
    }
  }
}

function* checkSheet(stated: Readonly<JsonObject>, path: Path): Iterable<Problem> {
  yield* checkExact(stated, path)
  const long: readonly JsonValue[] = Array.isArray(stated.long_prompts) ? stated.long_prompts : []
  let longest = 0
  for (const [at, tier] of long.entries()) {
    if (!isJsonObject(tier)) continue
    const here = [...path, 'long_prompts', at]
    yield* checkExact(tier, here)
    const { above_tokens: above } = tier
    if (typeof above !== 'number') continue
    if (above <= longest) {
      yield {
        path: [...here, 'above_tokens'],
        message: `${above} must be greater than ${longest}, the length before it`,
        hint: 'sort them by length, the shortest first',
      }
    }
    longest = Math.max(longest, above)
  }
}

function* checkExact(stated: Readonly<JsonObject>, path: Path): Iterable<Problem> {
  for (const [key, text] of Object.entries(stated)) {
    const unit = unitOf.get(key)
    if (unit === undefined || typeof text !== 'string' || picoUsd(unit, text) !== undefined)
      continue
    yield {
      path: [...path, key],
      message: `${text} is finer than a pico-USD (10^-12 USD) per ${key.endsWith('million') ? 'token' : 'piece'}, which the ledger cannot hold exactly`,
      hint: `use at most ${decimalsOf(unit)} decimals`,
    }
  }
}
