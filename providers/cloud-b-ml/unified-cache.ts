import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { leaveOut, type ParamPolicy } from 'model-gateway/wire'
import type { ContentBlock } from '../_shared/chat-content.ts'

type Field = 'tools' | 'system' | 'messages'

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

/** The cache point behind what has this `cache_control`; nothing where there is no mark. */
export type CachePoint = (field: Field, mark: JsonValue | undefined) => JsonObject[]

/** Tells `policy` of marks, or lifetimes, that the model does not take. */
export function createCachePoint(upstreamModel: string, policy: ParamPolicy): CachePoint {
  const id = upstreamModel.toLowerCase()
  const fields = MODELS.find((model) => model.id.test(id))?.fields ?? []
  return (field, mark) => {
    if (mark === undefined || mark === null) return []
    if (!fields.includes(field)) {
      leaveOut('cache_control', policy)
      return []
    }
    return [{ cachePoint: { type: 'default', ...lifetime(mark, id, policy) } }]
  }
}

/** The mark of a block; that of a part of a tool's result is the result's own. */
export function markOf(block: ContentBlock): JsonValue | undefined {
  if (block.kind !== 'tool_result' || typeof block.content === 'string') return block.cacheControl
  const marks = block.content.map((part) => part.cacheControl)
  return block.cacheControl ?? marks.findLast((mark) => mark !== undefined)
}

function lifetime(mark: JsonValue, id: string, policy: ParamPolicy): JsonObject {
  const ttl = isJsonObject(mark) ? (mark.ttl ?? '5m') : '5m'
  if (ttl === '5m') return {}
  if (KEEPS_AN_HOUR.test(id)) return { ttl }
  leaveOut('cache_control.ttl', policy)
  return {}
}

/**
 * Takes the first cache points out of a request that has more than the service allows. The last
 * ones end the longest beginnings of the prompt, which all earlier ones are part of.
 */
export function limitCachePoints(body: JsonObject, policy: ParamPolicy): JsonObject {
  const { toolConfig, system, messages } = body
  const contents = [
    isJsonObject(toolConfig) ? toolConfig.tools : undefined,
    system,
    ...(Array.isArray(messages) ? messages : []).map((turn) =>
      isJsonObject(turn) ? turn.content : undefined,
    ),
  ]
  const count = contents.flatMap((list) => (Array.isArray(list) ? list.filter(isPoint) : [])).length
  let surplus = count - MOST_POINTS
  if (surplus <= 0) return body
  leaveOut('cache_control', policy)
  const limited = (list: JsonValue | undefined): JsonValue[] =>
    (Array.isArray(list) ? list : []).filter((entry) => !isPoint(entry) || surplus-- <= 0)
  return {
    ...body,
    ...(isJsonObject(toolConfig)
      ? { toolConfig: { ...toolConfig, tools: limited(toolConfig.tools) } }
      : {}),
    ...(system === undefined ? {} : { system: limited(system) }),
    messages: (messages as JsonObject[]).map((turn) => ({
      ...turn,
      content: limited(turn.content),
    })),
  }
}

function isPoint(entry: JsonValue): boolean {
  return isJsonObject(entry) && entry.cachePoint !== undefined
}
