import { type JsonObject, type Problem, SecretRef, type Static, Type } from 'model-gateway/plugin'
import { checkBaseUrl } from '../_shared/base-url.ts'
import { betasSchema } from '../_shared/betas.ts'

const strict = { additionalProperties: false }

export const configSchema = Type.Object(
  {
    base_url: Type.Optional(
      Type.String({
        pattern: '^https?://[^\\s/]+',
        description:
          'Base URL of a service with the messages API, with or without /v1. Default https://api.anthropic.com',
      }),
    ),
    api_key: Type.Optional(SecretRef({ description: 'API key, sent as x-api-key' })),
    auth_token: Type.Optional(
      SecretRef({
        description: 'Bearer token, instead of api_key',
      }),
    ),
    version: Type.Optional(
      Type.String({
        pattern: '^\\S+$',
        description: 'The header anthropic-version. Default 2023-06-01',
      }),
    ),
  },
  strict,
)
export type Config = Static<typeof configSchema>

export const compatibilitySchema = Type.Object(
  {
    anthropic: Type.Optional(Type.Object({ betas: Type.Optional(betasSchema) }, strict)),
  },
  strict,
)
export type Compatibility = Static<typeof compatibilitySchema>

const VENDOR = 'https://api.anthropic.com'

/** The base URL with its version, and whether it is Anthropic's API. */
export function addressOf({ base_url: stated = VENDOR }: Pick<Config, 'base_url'>): {
  readonly baseUrl: string
  readonly isVendor: boolean
} {
  const bare = stated.replace(/\/+$/, '')
  const { host = '' } = URL.parse(bare) ?? {}
  return {
    baseUrl: /\/v\d+$/.test(bare) ? bare : `${bare}/v1`,
    isVendor: host === 'api.anthropic.com' || host.endsWith('.api.anthropic.com'),
  }
}

export function* checkProvider(provider: Readonly<JsonObject>): Iterable<Problem> {
  yield* checkBaseUrl(provider.base_url)
  const { api_key: key, auth_token: token } = provider
  if (key !== undefined && token !== undefined) {
    yield {
      path: ['auth_token'],
      message: 'conflicts with api_key',
      hint: 'remove one of the two: api_key is sent as x-api-key, auth_token as a bearer token',
    }
  } else if (key === undefined && token === undefined && provider.base_url === undefined) {
    yield {
      path: ['api_key'],
      message: 'is required by api.anthropic.com',
      hint: 'write env.ANTHROPIC_API_KEY, or auth_token for a bearer token',
    }
  }
}

/** Flags for APIs that the vendor does not have. */
const FAMILIES = ['responses', 'embeddings'] as const

export function* checkRoute(route: Readonly<JsonObject>): Iterable<Problem> {
  const { capabilities } = route as { capabilities?: JsonObject }
  for (const flag of FAMILIES) {
    if (capabilities?.[flag] !== true) continue
    const message = 'is not possible: providers of this type do not have this API'
    yield { path: ['capabilities', flag], message, hint: 'set it to false' }
  }
}
