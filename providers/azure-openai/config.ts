import {
  type JsonObject,
  KEY_ALIASES,
  type Problem,
  SecretRef,
  type Static,
  Type,
} from 'model-gateway/plugin'
import { checkBaseUrl, isLoopback } from '../_shared/base-url.ts'
import { checkChoices } from '../_shared/compat-choices.ts'
import { profileSchema } from '../_shared/compat-profile.ts'
import { entraSchema } from './entra.ts'

const strict = { additionalProperties: false }

export const configSchema = Type.Object(
  {
    endpoint: Type.String({
      pattern: '^https?://[^\\s/]+',
      description: 'Endpoint of the resource, such as https://NAME.openai.azure.com',
    }),
    api_version: Type.Optional(
      Type.String({
        pattern: '^[\\w.-]+$',
        description:
          'A dated version such as 2024-10-21, for paths by deployment. Default: the v1 API, without a version',
      }),
    ),
    api_key: Type.Optional(SecretRef({ description: 'Key of the resource, sent as api-key' })),
    auth: Type.Optional(
      Type.Union(
        [
          entraSchema,
          Type.Object(
            {
              mode: Type.Literal('bearer'),
              token: SecretRef({ description: 'An Entra ID token, for tests' }),
            },
            strict,
          ),
        ],
        { description: 'Entra ID instead of api_key' },
      ),
    ),
  },
  strict,
)
export type Config = Static<typeof configSchema>

export const compatibilitySchema = Type.Object(
  {
    azure_openai: Type.Optional(
      Type.Object(
        {
          model: Type.Optional(
            Type.String({
              minLength: 1,
              description:
                'Model of the deployment, as in the price list, such as gpt-5-mini. Default upstream_model',
            }),
          ),
        },
        strict,
      ),
    ),
    generic_compat: Type.Optional(profileSchema),
  },
  { ...strict, [KEY_ALIASES]: { openai_compat: 'generic_compat' } },
)
export type Compatibility = Static<typeof compatibilitySchema>

/** Base URL and paths, by OpenAI's paths, for a deployment. */
export function addressOf(
  { endpoint, api_version: version }: Pick<Config, 'endpoint' | 'api_version'>,
  deployment: string,
): { readonly baseUrl: string; readonly paths: Readonly<Record<string, string>> } {
  const base = `${endpoint.replace(/\/+$/, '').replace(/\/openai(?:\/v1)?$/, '')}/openai`
  if (version === undefined) return { baseUrl: `${base}/v1`, paths: {} }
  const query = `?api-version=${version}`
  const own = `deployments/${encodeURIComponent(deployment)}`
  return {
    baseUrl: base,
    paths: {
      'chat/completions': `${own}/chat/completions${query}`,
      embeddings: `${own}/embeddings${query}`,
      // The same for all deployments, because the body names the deployment.
      responses: `responses${query}`,
    },
  }
}

export function* checkProvider(provider: Readonly<JsonObject>): Iterable<Problem> {
  yield* checkBaseUrl(provider.endpoint, 'endpoint')
  const url = typeof provider.endpoint === 'string' ? URL.parse(provider.endpoint) : null
  if (url?.protocol === 'http:' && !isLoopback(url)) {
    yield {
      path: ['endpoint'],
      message: 'is plain http: the key is sent unencrypted',
      hint: 'use https, or http only for tests on this machine',
      severity: 'warning',
    }
  }
  const { api_key: key, auth } = provider
  if (key === undefined && auth === undefined) {
    yield {
      path: ['api_key'],
      message: 'is missing, and so is auth',
      hint: 'write env.AZURE_OPENAI_API_KEY, or auth for Entra ID',
    }
  } else if (key !== undefined && auth !== undefined) {
    yield { path: ['auth'], message: 'conflicts with api_key', hint: 'remove one of the two' }
  }
}

export function checkRoute(
  route: Readonly<JsonObject>,
  provider: Readonly<JsonObject>,
): Iterable<Problem> {
  return checkChoices(route, provider)
}
