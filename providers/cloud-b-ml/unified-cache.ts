import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { leaveOut, type ParamPolicy } from 'model-gateway/wire'
import type { ContentBlock } from '../_shared/chat-content.ts'

type Field = 'tools' | 'system' | 'messages'

/** Where the caller marked what stands in a field. */
const MARK = {
  tools: 'tools[].cache_control',
  system: 'messages[].content[].cache_control',
  messages: 'messages[].content[].cache_control',
} as const

/**
 * Models that take cache points, by field; a request that gives one to another model is refused.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */
const MODELS: readonly { readonly id: RegExp; readonly fields: readonly Field[] }[] = [
  {
    id: /claude-(?:3-7-sonnet|3-5-haiku|(?:opus|sonnet|haiku|fable|mythos)-)/,
    fields: ['tools', 'system', 'messages'],
  },
  { id: /amazon\.nova-/, fields: ['system', 'messages'] },
  // The id of such a profile names no model. Most are made for models that cache.
  { id: /:application-inference-profile\//, fields: ['tools', 'system', 'messages'] },
]

/** Claude 4.5 and later keep a cache for an hour, too. */
const KEEPS_AN_HOUR =
  /claude-(?:(?:fable|mythos)-|(?:opus|sonnet|haiku)-(?:4-(?:[5-9]|1\d)(?!\d)|[5-9]))/

const MOST_POINTS = 4

/** Makes the cache points of one request. */
export interface CachePoints {
  /** The one behind what has this `cache_control`; nothing where there is no mark. */
  behind(field: Field, mark: JsonValue | undefined): readonly JsonObject[]
  /** The request without those of its points that are too many. */
  limited(body: JsonObject): JsonObject
}

const NONE: readonly JsonObject[] = []

/** Tells `policy` of marks, or lifetimes, that the model does not take. */
export function createCachePoints(upstreamModel: string, policy: ParamPolicy): CachePoints {
  let count = 0
  return {
    behind(field, mark) {
      if (mark === undefined || mark === null) return NONE
      const id = upstreamModel.toLowerCase()
      const model = MODELS.find((each) => each.id.test(id))
      if (model?.fields.includes(field) !== true) {
        leaveOut(MARK[field], policy)
        return NONE
      }
      count++
      return [{ cachePoint: { type: 'default', ...lifetime(mark, id, MARK[field], policy) } }]
    },
    limited(body) {
      return count <= MOST_POINTS ? body : withoutFirst(count - MOST_POINTS, body, policy)
    },
  }
}

/** The mark of a block; that of a part of a tool's result is the result's own. */
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

/** The last points end the longest beginnings of the prompt, which all earlier ones are part of. */
function withoutFirst(surplus: number, body: JsonObject, policy: ParamPolicy): JsonObject {
  const { toolConfig, system, messages } = body
  let left = surplus
  const paths = new Set<string>()
  const limited = (list: JsonValue | undefined, field: Field): JsonValue[] =>
    (Array.isArray(list) ? list : []).filter((entry) => {
      const stays = !isPoint(entry) || left-- <= 0
      if (!stays) paths.add(MARK[field])
      return stays
    })
  const fitting = {
    ...body,
    ...(isJsonObject(toolConfig)
      ? { toolConfig: { ...toolConfig, tools: limited(toolConfig.tools, 'tools') } }
      : {}),
    ...(system === undefined ? {} : { system: limited(system, 'system') }),
    messages: (messages as JsonObject[]).map((turn) => ({
      ...turn,
      content: limited(turn.content, 'messages'),
    })),
  }
  for (const path of paths) leaveOut(path, policy)
  return fitting
}

function isPoint(entry: JsonValue): boolean {
  return isJsonObject(entry) && entry.cachePoint !== undefined
}
