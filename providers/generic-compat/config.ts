import {
  isJsonObject,
  type JsonObject,
  KEY_ALIASES,
  type Problem,
  SecretRef,
  type Static,
  Type,
} from 'model-gateway/plugin'
import { checkBaseUrl } from '../_shared/base-url.ts'
import { checkChoices } from '../_shared/compat-choices.ts'
import {
  checkMetering,
  type Profile,
  profileSchema,
  upstreamApi,
} from '../_shared/compat-profile.ts'
import { aggregatorSchema, checkAggregator } from './aggregator.ts'
import type { Preset } from './presets.ts'

const strict = { additionalProperties: false }

const baseUrl = (description: string) => Type.String({ pattern: '^https?://[^\\s/]+', description })

const authentication = {
  api_key: Type.Optional(
    SecretRef({
      description: 'API key, sent as a bearer token; the short form of auth with mode bearer',
    }),
  ),
  auth: Type.Optional(
    Type.Union(
      [
        Type.Object(
          { mode: Type.Literal('bearer'), token: SecretRef({ description: 'API key' }) },
          strict,
        ),
        Type.Object({ mode: Type.Literal('none') }, strict),
      ],
      { description: 'How calls authenticate. Default none, or bearer with api_key' },
    ),
  ),
}

export const configSchema = Type.Object(
  {
    base_url: baseUrl('Base URL with its version, such as https://api.openai.com/v1'),
    ...authentication,
  },
  strict,
)

/** All types that `presets.ts` describes. */
export const presetSchema = Type.Object(
  {
    base_url: Type.Optional(baseUrl("Base URL with its version. Default the vendor's")),
    ...authentication,
  },
  strict,
)
export type Config = Static<typeof presetSchema>

export const compatibilitySchema = Type.Object(
  {
    generic_compat: Type.Optional(profileSchema),
    aggregator: Type.Optional(aggregatorSchema),
  },
  {
    ...strict,
    [KEY_ALIASES]: { openai_compat: 'generic_compat', openrouter: 'aggregator' },
  },
)
export type Compatibility = Static<typeof compatibilitySchema>

/** Checks of a provider, or of a preset's type, that the schema cannot express. */
export function* checkProvider(provider: Readonly<JsonObject>, preset?: Preset): Iterable<Problem> {
  yield* checkBaseUrl(provider.base_url)
  const path = ['api_key']
  const isKeyed = 'api_key' in provider
  if (isKeyed && 'auth' in provider) {
    yield { path, message: 'conflicts with auth', hint: 'remove auth or api_key' }
  }
  if (preset?.auth === 'bearer' && !isKeyed && !('auth' in provider)) {
    yield { path, message: 'is required', hint: `set api_key: env.${preset.keys[0]}` }
  }
}

/**
 * The profile of a route: its fields override the vendor's, which override those of known models.
 */
export function profileOf(
  stated: Profile,
  upstreamModel: string,
  preset: Preset | undefined,
): Profile {
  if (preset === undefined) return stated
  const profile = { ...preset.profile, ...stated }
  // By the vendor, for any base URL.
  return { ...profile, upstream_api: upstreamApi(profile, preset.baseUrl, upstreamModel) }
}

export function* checkRoute(
  route: Readonly<JsonObject>,
  stated: Readonly<JsonObject>,
  preset?: Preset,
): Iterable<Problem> {
  const compatibility = isJsonObject(route.compatibility) ? route.compatibility : {}
  const { generic_compat: own } = compatibility
  const provider: JsonObject = {
    ...(preset && { base_url: preset.baseUrl }),
    ...(preset?.pricing !== undefined && { pricing_provider_id: preset.pricing }),
    ...stated,
  }
  const profile = isJsonObject(own) ? (own as Profile) : {}
  const generic_compat = profileOf(profile, String(route.upstream_model), preset)
  yield* checkAggregator(compatibility.aggregator, route, provider)
  if (preset === undefined || preset.apis.includes('chat_completions')) {
    yield* checkMetering({ ...route, compatibility: { generic_compat } }, provider)
  }
  yield* checkChoices(route, provider)
}
