import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { leaveOut, type ParamPolicy } from 'model-gateway/wire'
import { MARKED_AT } from '../_shared/cache-marks.ts'
import type { ContentBlock } from '../_shared/chat-content.ts'

type Field = 'tools' | 'system' | 'messages'

/**
 * Models that accept cache points, by field; other models refuse them.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */
const MODELS: readonly { readonly id: RegExp; readonly fields: readonly Field[] }[] = [
  {
    id: /claude-(?:3-7-sonnet|3-5-haiku|(?:opus|sonnet|haiku|fable|mythos)-)/,
    fields: ['tools', 'system', 'messages'],
  },
  { id: /amazon\.nova-/, fields: ['system', 'messages'] },
  // Application profile ids do not contain a model. Most are for models with caching.
  { id: /:application-inference-profile\//, fields: ['tools', 'system', 'messages'] },
]

/** Claude 4.5 and later also support a lifetime of one hour. */
const KEEPS_AN_HOUR =
  /claude-(?:(?:fable|mythos)-|(?:opus|sonnet|haiku)-(?:4-(?:[5-9]|1\d)(?!\d)|[5-9]))/

/** The cache point after an item of this field with this `cache_control`; empty without a mark. */
export type CachePoints = (field: Field, mark: JsonValue | undefined) => readonly JsonObject[]

const NONE: readonly JsonObject[] = []

/** Reports marks, or lifetimes, that the model does not support to `policy`. */
export function createCachePoints(upstreamModel: string, policy: ParamPolicy): CachePoints {
  return (field, mark) => {
    if (mark === undefined || mark === null) return NONE
    const id = upstreamModel.toLowerCase()
    const model = MODELS.find((each) => each.id.test(id))
    if (model?.fields.includes(field) !== true) {
      leaveOut(MARKED_AT[field], policy)
      return NONE
    }
    return [{ cachePoint: { type: 'default', ...lifetime(mark, id, MARKED_AT[field], policy) } }]
  }
}

/** The mark of a block; a mark on a part of a tool result applies to the result. */
export function markOf(block: ContentBlock): JsonValue | undefined {
  if (block.kind !== 'tool_result' || typeof block.content === 'string') return block.cacheControl
  const marks = block.content.map((part) => part.cacheControl)
  return block.cacheControl ?? marks.findLast((mark) => mark !== undefined)
}

function lifetime(mark: JsonValue, id: string, path: string, policy: ParamPolicy): JsonObject {
  const ttl = isJsonObject(mark) ? (mark.ttl ?? '5m') : '5m'
  if (ttl === '5m') return {}
  if (KEEPS_AN_HOUR.test(id)) return { ttl }
  leaveOut(`${path}.ttl`, policy)
  return {}
}
