import {
  isJsonObject,
  type JsonObject,
  KEY_ALIASES,
  type Problem,
  type Static,
  Type,
} from 'model-gateway/plugin'
import { isLoopback } from '../_shared/base-url.ts'
import { betasSchema } from '../_shared/betas.ts'
import { checkGoogleAuth, googleAuthSchema } from '../_shared/google-auth.ts'
import { embeddingModelIds, readUpstreamModel, type UpstreamModel } from './upstream-model.ts'

const strict = { additionalProperties: false }

export const configSchema = Type.Object(
  {
    project_id: Type.String({
      pattern: '^[a-z0-9][a-z0-9.:-]*$',
      description: 'write the id or number of a Google Cloud project',
    }),
    location: Type.Optional(
      Type.String({
        pattern: '^[a-z0-9-]+$',
        description: 'write global, eu, us or a region such as europe-west4',
      }),
    ),
    api_host: Type.Optional(
      Type.String({
        pattern: '^(https?://)?[^\\s/@?#]+$',
        description: 'write a host, with port and scheme if needed, without a path',
        'x-machine-credentials': true,
      }),
    ),
    auth: googleAuthSchema,
  },
  strict,
)
export type Config = Static<typeof configSchema>

const profileSchema = Type.Object(
  {
    base64: Type.Optional(
      Type.Literal('encode', {
        description:
          'encode: embedding calls may ask for base64, which the gateway encodes from floats',
      }),
    ),
    betas: Type.Optional(betasSchema),
  },
  strict,
)
export type Profile = Static<typeof profileSchema>

export const compatibilitySchema = Type.Object(
  { cloud_a_ml: Type.Optional(profileSchema) },
  { ...strict, [KEY_ALIASES]: { vertex_ai: 'cloud_a_ml' } },
)
export type Compatibility = Static<typeof compatibilitySchema>

/** Multi-region locations have hosts of another form. */
const MULTI_REGIONS: ReadonlySet<string> = new Set(['us', 'eu'])

/** Scheme and host for models in this location. */
export function apiOrigin({ api_host: host, location = 'global' }: Config): string {
  if (host !== undefined) return host.includes('://') ? host : `https://${host}`
  if (location === 'global') return 'https://aiplatform.googleapis.com'
  return MULTI_REGIONS.has(location)
    ? `https://aiplatform.${location}.rep.googleapis.com`
    : `https://${location}-aiplatform.googleapis.com`
}

export function* checkProvider(provider: Readonly<JsonObject>): Iterable<Problem> {
  yield* checkGoogleAuth(provider.auth)
  const { api_host: host } = provider
  if (typeof host === 'string') {
    const path = ['api_host']
    const url = URL.parse(host.includes('://') ? host : `https://${host}`)
    if (url === null) {
      yield { path, message: 'is not a host', hint: 'write it like aiplatform.example.com:8443' }
    } else if (url.protocol === 'http:' && !isLoopback(url)) {
      yield {
        path,
        message: 'is plain http: tokens are sent unencrypted',
        hint: 'use https, or http only for tests on this machine',
        severity: 'warning',
      }
    }
  }
  if ('pricing_provider_id' in provider) {
    yield {
      path: ['pricing_provider_id'],
      message: 'has no effect: prices are found under google-vertex and google-vertex-anthropic',
      hint: 'remove it; pricing.overrides may name those two',
      severity: 'warning',
    }
  }
}

/** Flags that a route to this model cannot serve, with reasons. */
function unavailable({ publisher, embedding }: UpstreamModel): [flag: string, reason: string][] {
  const responses: [flag: string, reason: string] = [
    'responses',
    'the providers of this type have no responses API',
  ]
  if (embedding !== undefined) {
    return [['chat_completions', 'this model only does embeddings'], responses]
  }
  const embeddings: [flag: string, reason: string] = [
    'embeddings',
    `only ${embeddingModelIds.join(', ')} do embeddings`,
  ]
  return publisher === 'google'
    ? [responses, embeddings]
    : [
        responses,
        embeddings,
        ['vision', 'images are not supported by anthropic/ models here'],
        ['json_schema', 'JSON schemas are not supported by anthropic/ models here'],
      ]
}

export function* checkRoute(route: Readonly<JsonObject>): Iterable<Problem> {
  if (typeof route.upstream_model !== 'string') return
  const model = readUpstreamModel(route.upstream_model)
  if (model === undefined) {
    yield unknownModel
    return
  }
  const capabilities = isJsonObject(route.capabilities) ? route.capabilities : {}
  const family = model.embedding === undefined ? 'chat_completions' : 'embeddings'
  if (capabilities[family] === false) {
    yield {
      path: ['capabilities', family],
      message: `is false, but this model only supports ${family}`,
      hint: `remove it, or disable the route with enabled: false`,
    }
  }
  for (const [flag, reason] of unavailable(model)) {
    if (capabilities[flag] !== true) continue
    const message = `is not possible with this model: ${reason}`
    yield { path: ['capabilities', flag], message, hint: 'set it to false' }
  }
}

/** The problem of an invalid `upstream_model`. */
export const unknownModel: Problem = {
  path: ['upstream_model'],
  message: 'is not a model of a supported publisher',
  hint: 'write google/ID or anthropic/ID',
}
