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
import { checkMetering, profileSchema } from '../_shared/compat-profile.ts'
import { aggregatorSchema, checkAggregator } from './aggregator.ts'

const strict = { additionalProperties: false }

export const configSchema = Type.Object(
  {
    base_url: Type.String({
      pattern: '^https?://[^\\s/]+',
      description: 'Base URL with its version, such as https://api.openai.com/v1',
    }),
    auth: Type.Optional(
      Type.Union(
        [
          Type.Object(
            { mode: Type.Literal('bearer'), token: SecretRef({ description: 'The API key' }) },
            strict,
          ),
          Type.Object({ mode: Type.Literal('none') }, strict),
        ],
        { description: 'How calls authenticate. Default none' },
      ),
    ),
  },
  strict,
)
export type Config = Static<typeof configSchema>

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

export function checkProvider(provider: Readonly<JsonObject>): Iterable<Problem> {
  return checkBaseUrl(provider.base_url)
}

export function* checkRoute(
  route: Readonly<JsonObject>,
  provider: Readonly<JsonObject>,
): Iterable<Problem> {
  const compatibility = isJsonObject(route.compatibility) ? route.compatibility : {}
  yield* checkAggregator(compatibility.aggregator, route, provider)
  yield* checkMetering(route, provider)
  yield* checkChoices(route, provider)
}
