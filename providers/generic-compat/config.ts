import {
  isJsonObject,
  type JsonObject,
  type Problem,
  SecretRef,
  type Static,
  Type,
} from 'model-gateway/plugin'
import { aggregatorSchema, checkAggregator } from './aggregator.ts'
import { profileSchema } from './profile.ts'

const strict = { additionalProperties: false }

export const configSchema = Type.Object(
  {
    base_url: Type.String({
      pattern: '^https?://[^\\s/]+',
      description: 'Base URL with its version, such as https://api.openai.com/v1',
    }),
    auth: Type.Optional(
      Type.Union([
        Type.Object({ mode: Type.Literal('bearer'), token: SecretRef() }, strict),
        Type.Object({ mode: Type.Literal('none') }, strict),
      ]),
    ),
  },
  strict,
)
export type Config = Static<typeof configSchema>

export const compatibilitySchema = Type.Object(
  {
    generic_compat: Type.Optional(profileSchema),
    openai_compat: Type.Optional(profileSchema),
    aggregator: Type.Optional(aggregatorSchema),
    openrouter: Type.Optional(aggregatorSchema),
  },
  strict,
)
export type Compatibility = Static<typeof compatibilitySchema>

/** Either spelling of a compatibility block; `checkRoute` refuses both at once. */
const blocks = [
  ['generic_compat', 'openai_compat'],
  ['aggregator', 'openrouter'],
] as const

export function* checkProvider(provider: Readonly<JsonObject>): Iterable<Problem> {
  const url = typeof provider.base_url === 'string' ? URL.parse(provider.base_url) : undefined
  if (url === undefined) return
  const path = ['base_url']
  if (url === null) {
    yield { path, message: 'is not a URL', hint: 'write it like https://host/v1' }
    return
  }
  if (url.username !== '' || url.password !== '') {
    yield {
      path,
      message: 'carries credentials',
      hint: 'put them into auth, as a secret reference',
    }
  }
  if (url.search !== '' || url.hash !== '') {
    yield { path, message: 'has a query or a fragment', hint: 'end it with the path, such as /v1' }
  }
}

export function* checkRoute(
  route: Readonly<JsonObject>,
  provider: Readonly<JsonObject>,
): Iterable<Problem> {
  const compatibility = isJsonObject(route.compatibility) ? route.compatibility : {}
  for (const [name, alias] of blocks) {
    if (name in compatibility && alias in compatibility) {
      yield {
        path: ['compatibility', alias],
        message: `says the same as ${name}`,
        hint: `keep one of ${name} and ${alias}`,
      }
    }
  }
  const aggregator = 'aggregator' in compatibility ? 'aggregator' : 'openrouter'
  yield* checkAggregator(compatibility[aggregator], aggregator, route, provider)
  yield* checkMetering(compatibility, route, provider)
}

function* checkMetering(
  compatibility: Readonly<JsonObject>,
  route: Readonly<JsonObject>,
  provider: Readonly<JsonObject>,
): Iterable<Problem> {
  const capabilities = isJsonObject(route.capabilities) ? route.capabilities : {}
  const streams = capabilities.chat_completions !== false && capabilities.stream !== false
  if (typeof provider.pricing_provider_id !== 'string' || !streams || route.enabled === false)
    return
  const block = 'openai_compat' in compatibility ? 'openai_compat' : 'generic_compat'
  const profile = compatibility[block]
  if (isJsonObject(profile) && profile.supports_stream_usage === true) return
  yield {
    path: ['compatibility', block, 'supports_stream_usage'],
    message: 'is false on a priced route that streams chat: its streams may go unmetered',
    hint: 'set it to true if the upstream knows stream_options.include_usage',
    severity: 'warning',
  }
}
