import {
  isJsonObject,
  type JsonObject,
  KEY_ALIASES,
  type Problem,
  SecretRef,
  type Static,
  Type,
} from 'model-gateway/plugin'
import { awsAuthSchemas } from '../_shared/aws-credentials.ts'
import { betasSchema } from '../_shared/betas.ts'
import { type ApiStyle, apiStyles, genericStyles, isEdge } from './styles.ts'

const strict = { additionalProperties: false }

export const configSchema = Type.Object(
  {
    region: Type.String({
      pattern: '^[a-z]{2,}(-[a-z]+)+-[0-9]+$',
      description: 'write the region of the service, such as us-east-1',
    }),
    endpoint_url: Type.Optional(
      Type.String({
        pattern: '^https?://[^\\s/]+',
        description: 'Scheme and host of another endpoint, such as a VPC endpoint',
      }),
    ),
    auth: Type.Optional(
      Type.Union(
        [
          ...awsAuthSchemas,
          Type.Object(
            { mode: Type.Literal('bearer'), token: SecretRef({ description: 'API key' }) },
            strict,
          ),
        ],
        { description: 'How calls authenticate. Default default_chain' },
      ),
    ),
  },
  strict,
)
export type Config = Static<typeof configSchema>

const profileSchema = Type.Object(
  {
    api_style: Type.Union(
      apiStyles.map((style) => Type.Literal(style)),
      { description: 'API of the service to call' },
    ),
    base_path: Type.Optional(
      Type.String({
        pattern: '^/[^\\s?#]*$',
        description: 'write the path before chat/completions or responses, such as /v1',
      }),
    ),
    betas: Type.Optional(betasSchema),
  },
  strict,
)
export type Profile = Static<typeof profileSchema>

export const compatibilitySchema = Type.Object(
  {
    cloud_b_ml: Type.Optional(profileSchema),
  },
  { ...strict, [KEY_ALIASES]: { bedrock: 'cloud_b_ml' } },
)
export type Compatibility = Static<typeof compatibilitySchema>

export function* checkProvider(provider: Readonly<JsonObject>): Iterable<Problem> {
  const { endpoint_url: value } = provider
  if (typeof value !== 'string') return
  const url = URL.parse(value)
  const path = ['endpoint_url']
  if (url === null) {
    yield { path, message: 'is not a URL', hint: 'write it like https://host' }
  } else if (url.username !== '' || url.password !== '') {
    yield { path, message: 'carries credentials', hint: 'move them to auth, as secret references' }
  } else if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    yield {
      path,
      message: 'is more than a scheme and a host',
      hint: `write ${url.origin}; routes set the path`,
    }
  }
}

export function* checkRoute(
  route: Readonly<JsonObject>,
  provider: Readonly<JsonObject> = {},
): Iterable<Problem> {
  const compatibility = isJsonObject(route.compatibility) ? route.compatibility : {}
  const profile = compatibility.cloud_b_ml
  if (profile === undefined && !('cloud_b_ml' in compatibility)) {
    yield {
      path: ['compatibility', 'cloud_b_ml'],
      message: 'is missing',
      hint: 'set how the model is called: cloud_b_ml: { api_style: runtime_unified }',
    }
  }
  if (!isJsonObject(profile)) return
  const style = apiStyles.find((name) => name === profile.api_style)
  if (style === undefined) return
  yield* checkEndpoint(style, provider.endpoint_url)
  yield* checkBasePath(style, profile, ['compatibility', 'cloud_b_ml', 'base_path'])
  yield* checkCapabilities(style, isJsonObject(route.capabilities) ? route.capabilities : {})
  yield* checkMetering(style, route)
}

/** AWS host names contain the service, also for FIPS and VPC endpoints. */
const SERVICE_HOST = /(?:^|\.)bedrock-(runtime|mantle)(?:-fips)?\./i

function* checkEndpoint(style: ApiStyle, endpointUrl: unknown): Iterable<Problem> {
  const host = typeof endpointUrl === 'string' ? (URL.parse(endpointUrl)?.hostname ?? '') : ''
  const [, service] = SERVICE_HOST.exec(host) ?? []
  if (service === undefined || (service === 'mantle') === isEdge(style)) return
  const [own, other] = isEdge(style) ? ['runtime', 'edge'] : ['edge', 'runtime']
  yield {
    path: ['compatibility', 'cloud_b_ml', 'api_style'],
    message: `${style} cannot be called at ${host}, an endpoint of the ${own} service`,
    hint: `use a style that begins with ${own}_, or a provider with an endpoint of the ${other} service`,
  }
}

function* checkBasePath(
  style: ApiStyle,
  profile: Readonly<JsonObject>,
  path: readonly string[],
): Iterable<Problem> {
  if (genericStyles.has(style)) {
    if ('base_path' in profile) return
    yield {
      path,
      message: `is missing, and api_style ${style} needs it`,
      hint: 'write /openai/v1 or /v1, depending on the model',
    }
  } else if (profile.base_path !== undefined) {
    yield { path, message: `has no effect with api_style ${style}`, hint: 'remove it' }
  }
}

function* checkCapabilities(
  style: ApiStyle,
  capabilities: Readonly<JsonObject>,
): Iterable<Problem> {
  const refused = (flag: string, hint: string): Problem => ({
    path: ['capabilities', flag],
    message: `is not possible with api_style ${style}`,
    hint,
  })
  if (capabilities.embeddings === true) {
    yield refused('embeddings', 'this provider does not serve embeddings: set it to false')
  }
  if (style === 'edge_generic_responses') {
    if (capabilities.chat_completions !== false) {
      yield {
        path: ['capabilities', 'chat_completions'],
        message: `must be false with api_style ${style}`,
        hint: 'add a route with another api_style for chat completions',
      }
    }
    return
  }
  for (const flag of ['responses', 'json_schema'] as const) {
    if (capabilities[flag] === true) {
      yield refused(
        flag,
        'only routes with api_style edge_generic_responses have it: set it to false',
      )
    }
  }
  if (style === 'runtime_native_invoke' && capabilities.stream === true) {
    yield refused('stream', 'use runtime_unified or edge_native_messages to stream')
  }
}

/** The generic chat styles report usage in streams only on request. */
function* checkMetering(style: ApiStyle, route: Readonly<JsonObject>): Iterable<Problem> {
  if (style !== 'runtime_generic_chat' && style !== 'edge_generic_chat') return
  const capabilities = isJsonObject(route.capabilities) ? route.capabilities : {}
  const extraBody = isJsonObject(route.extra_body) ? route.extra_body : {}
  const { stream_options: options } = extraBody
  const metered = isJsonObject(options) && options.include_usage === true
  if (metered || capabilities.stream === false || route.enabled === false) return
  yield {
    path: ['capabilities', 'stream'],
    message: `leaves streams of api_style ${style} unmetered unless the caller asks for usage`,
    hint: 'use runtime_unified, or set it to false',
    severity: 'warning',
  }
}
