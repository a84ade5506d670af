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
      description: 'The endpoint of the resource, such as https://NAME.openai.azure.com',
    }),
    api_version: Type.Optional(
      Type.String({
        pattern: '^[\\w.-]+$',
        description:
          'A dated version such as 2024-10-21, which is called by the paths of deployments. Default: the v1 API, which needs none',
      }),
    ),
    api_key: Type.Optional(SecretRef({ description: 'A key of the resource, sent as api-key' })),
    auth: Type.Optional(
      Type.Union(
        [
          entraSchema,
          Type.Object(
            {
              mode: Type.Literal('bearer'),
              token: SecretRef({ description: 'A token of Entra ID, for trials' }),
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
                'The model of the deployment that upstream_model names, as the price list has it: gpt-5-mini. Default upstream_model',
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

/** Base URL and paths by OpenAI's, for a deployment. */
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
      // Of all deployments one: the body names it.
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
      message: 'is plain http: the key travels in the clear',
      hint: 'write https, or leave http to tests on this machine',
      severity: 'warning',
    }
  }
  const { api_key: key, auth } = provider
  if (key === undefined && auth === undefined) {
    yield {
      path: ['api_key'],
      message: 'is missing, and there is no auth',
      hint: 'write env.AZURE_OPENAI_API_KEY, or auth for Entra ID',
    }
  } else if (key !== undefined && auth !== undefined) {
    yield { path: ['auth'], message: 'is set next to api_key', hint: 'leave one of the two out' }
  }
}

export function checkRoute(
  route: Readonly<JsonObject>,
  provider: Readonly<JsonObject>,
): Iterable<Problem> {
  return checkChoices(route, provider)
}
