import {
  isJsonObject,
  type JsonObject,
  type Problem,
  SecretRef,
  type Static,
  Type,
} from 'model-gateway/plugin'
import { checkBaseUrl } from '../_shared/base-url.ts'

const strict = { additionalProperties: false }

export const configSchema = Type.Object(
  {
    base_url: Type.Optional(
      Type.String({
        pattern: '^https?://[^\\s/]+',
        description:
          'Base URL, with or without its version. Default https://generativelanguage.googleapis.com/v1beta',
      }),
    ),
    api_key: SecretRef({ description: 'The API key of AI Studio, sent as x-goog-api-key' }),
  },
  strict,
)
export type Config = Static<typeof configSchema>

export const compatibilitySchema = Type.Object({}, strict)

const VENDOR = 'https://generativelanguage.googleapis.com'
const VERSION = 'v1beta'

/** The base URL with its version. */
export function baseUrlOf({ base_url: stated = VENDOR }: Pick<Config, 'base_url'>): string {
  const bare = stated.replace(/\/+$/, '')
  return /\/v\d+\w*$/.test(bare) ? bare : `${bare}/${VERSION}`
}

/** A model as in the API's paths: `gemini-2.5-flash` and `models/gemini-2.5-flash` are the same. */
export interface ModelName {
  readonly path: string
  /** Without its collection prefix. */
  readonly id: string
}

export function modelName(upstreamModel: string): ModelName {
  const path = upstreamModel.includes('/') ? upstreamModel : `models/${upstreamModel}`
  return { path, id: path.slice(path.lastIndexOf('/') + 1) }
}

export function checkProvider(provider: Readonly<JsonObject>): Iterable<Problem> {
  return checkBaseUrl(provider.base_url)
}

export function* checkRoute(route: Readonly<JsonObject>): Iterable<Problem> {
  const capabilities = isJsonObject(route.capabilities) ? route.capabilities : {}
  if (capabilities.responses !== true) return
  yield {
    path: ['capabilities', 'responses'],
    message: 'is not possible: providers of this type do not have this API',
    hint: 'set it to false',
  }
}
