import { type JsonObject, KEY_ALIASES, type Problem, type Static, Type } from 'model-gateway/plugin'
import { checkBaseUrl, isLoopback } from '../_shared/base-url.ts'
import { checkChoices } from '../_shared/compat-choices.ts'
import { checkMetering, profileSchema } from '../_shared/compat-profile.ts'
import { checkGoogleAuth, googleAuthSchema } from '../_shared/google-auth.ts'

const strict = { additionalProperties: false }

export const configSchema = Type.Object(
  {
    base_url: Type.String({
      pattern: '^https?://[^\\s/]+',
      description: 'Base URL with its version, such as https://name-number.region.run.app/v1',
      'x-machine-credentials': true,
    }),
    audience: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Audience of the ID token. Default the origin of base_url',
      }),
    ),
    auth_header: Type.Optional(
      Type.Union([Type.Literal('authorization'), Type.Literal('x_serverless_authorization')], {
        description: 'Header of the token. Default authorization',
      }),
    ),
    auth: googleAuthSchema,
  },
  strict,
)
export type Config = Static<typeof configSchema>

export const compatibilitySchema = Type.Object(
  {
    generic_compat: Type.Optional(profileSchema),
  },
  { ...strict, [KEY_ALIASES]: { openai_compat: 'generic_compat' } },
)
export type Compatibility = Static<typeof compatibilitySchema>

export function* checkProvider(provider: Readonly<JsonObject>): Iterable<Problem> {
  yield* checkGoogleAuth(provider.auth)
  yield* checkBaseUrl(provider.base_url)
  const url = typeof provider.base_url === 'string' ? URL.parse(provider.base_url) : null
  if (url === null || url.protocol === 'https:') return
  if (!isLoopback(url)) {
    yield {
      path: ['base_url'],
      message: 'is not https: the token would be sent unencrypted',
      hint: 'use https; plain http is allowed only for this machine, such as http://127.0.0.1:8000/v1',
    }
  } else if (!('audience' in provider)) {
    yield {
      path: ['audience'],
      message: 'is required when base_url is plain http',
      hint: 'write the https origin of the service',
    }
  }
}

export function* checkRoute(
  route: Readonly<JsonObject>,
  provider: Readonly<JsonObject>,
): Iterable<Problem> {
  yield* checkMetering(route, provider)
  yield* checkChoices(route, provider)
}
