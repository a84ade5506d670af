import { GatewayError } from 'model-gateway/plugin'

/** The header in which clients of Google's APIs send their key. */
export const GOOGLE_KEY = 'x-goog-api-key'
export const GOOGLE_KEYS = [GOOGLE_KEY, 'x-gateway-api-key']

const DEFAULT_SIZE = 50
const MAX_SIZE = 1000

/** A model as Google's API lists it. https://ai.google.dev/api/models#Model */
export function googleModel(id: string, acceptedAt: Date) {
  return {
    name: `models/${id}`,
    baseModelId: id,
    version: acceptedAt.toISOString(),
    displayName: id,
    description: '',
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
  }
}

/**
 * The page of a list for `pageSize` and `pageToken`. Throws `invalid_request`.
 *
 * @example googlePage(['a', 'b'], new URLSearchParams('pageSize=1')) // { ids: ['a'], nextPageToken: 'a' }
 */
export function googlePage(ids: readonly string[], query: URLSearchParams) {
  const size = sizeOf(query.get('pageSize'))
  const token = query.get('pageToken') || null
  const after = token === null ? -1 : ids.indexOf(token)
  if (token !== null && after === -1) {
    throw new GatewayError(
      'invalid_request',
      `pageToken: this key has no access to a model "${token}"`,
    )
  }
  const page = ids.slice(after + 1, after + 1 + size)
  const isLast = after + 1 + size >= ids.length
  return { ids: page, ...(!isLast && { nextPageToken: page.at(-1) }) }
}

/** Larger sizes are limited to the maximum. */
function sizeOf(text: string | null): number {
  if (text === null || text === '0') return DEFAULT_SIZE
  if (/^\d{1,9}$/.test(text)) return Math.min(Number(text), MAX_SIZE)
  throw new GatewayError('invalid_request', `pageSize must be a whole number, got "${text}"`)
}
