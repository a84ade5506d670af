import { GatewayError } from 'model-gateway/plugin'

/** A model as the messages API lists it. */
export interface ListedModel {
  readonly type: 'model'
  readonly id: string
  readonly display_name: string
  /** RFC 3339. */
  readonly created_at: string
}

/** Callers of the messages API send its version. */
export const ANTHROPIC_VERSION = 'anthropic-version'

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 1000

export function listedModel(id: string, acceptedAt: Date): ListedModel {
  return { type: 'model', id, display_name: id, created_at: acceptedAt.toISOString() }
}

/**
 * The page of a list for `limit`, `after_id` and `before_id`. Throws `invalid_request`.
 *
 * @example pageOf(models, new URLSearchParams('limit=2&after_id=fast'))
 */
export function pageOf(models: readonly ListedModel[], query: URLSearchParams) {
  const limit = limitOf(query.get('limit'))
  const after = placeOf(models, query, 'after_id')
  const before = placeOf(models, query, 'before_id')
  if (after !== undefined && before !== undefined) {
    throw new GatewayError('invalid_request', 'before_id and after_id are mutually exclusive')
  }
  const start = before === undefined ? (after ?? -1) + 1 : Math.max(0, before - limit)
  const end = before ?? start + limit
  const data = models.slice(start, end)
  return {
    data,
    has_more: before === undefined ? end < models.length : start > 0,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  }
}

function limitOf(text: string | null): number {
  if (text === null) return DEFAULT_LIMIT
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= MAX_LIMIT) return limit
  throw new GatewayError('invalid_request', `limit must be 1 to ${MAX_LIMIT}, got "${text}"`)
}

/** The index of a model in the list. */
function placeOf(models: readonly ListedModel[], query: URLSearchParams, name: string) {
  const id = query.get(name)
  if (id === null) return undefined
  const place = models.findIndex((model) => model.id === id)
  if (place >= 0) return place
  throw new GatewayError('invalid_request', `${name}: this key has no access to a model "${id}"`)
}
