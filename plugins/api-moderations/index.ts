import { definePlugin, isJsonObject, type JsonValue, Type } from 'model-gateway/plugin'
import { type Dialect, dialects, type SurfaceCall, surfaces } from 'model-gateway/surface'
import { invalid, readChatUsage, readCommon, type Usage } from 'model-gateway/wire'
import { replyList, replyObject } from '../_shared/reply-list.ts'

const MODERATIONS = 'moderations'

const moderations: Dialect = {
  id: MODERATIONS,
  readReply(value) {
    const body = replyObject(value)
    const usage = readChatUsage(body.usage) ?? FREE
    replyList(body, ['results'], usage)
    return { usage, invokedToolCount: undefined }
  },
}

/**
 * Vendors that do not count tokens, such as OpenAI, do not charge them: zero is exact, so the price
 * list's price is too.
 */
const FREE: Usage = {
  uncachedInput: 0,
  cacheRead: undefined,
  cacheWrite: undefined,
  output: undefined,
  reasoning: undefined,
  promptTokens: 0,
  totalTokens: 0,
}

function readModerations(value: JsonValue): SurfaceCall {
  if (!isJsonObject(value)) throw invalid('the request body must be a JSON object')
  const call = readCommon(value)
  if (call.stream) throw invalid('stream is not available for moderations: leave it out')
  const { input } = value
  if (typeof input !== 'string' && !(Array.isArray(input) && input.length > 0)) {
    throw invalid('input must be a string, or a non-empty array of strings or parts')
  }
  const parts = Array.isArray(input) ? input : []
  for (const [at, part] of parts.entries()) {
    if (typeof part !== 'string' && !isJsonObject(part)) {
      throw invalid(`input.${at} must be a string or a part: {type: "text", text} or an image_url`)
    }
  }
  return { ...call, features: [], exposedToolCount: undefined }
}

/** `POST /v1/moderations`. */
export default definePlugin({
  manifest: {
    id: 'plugin.api-moderations',
    version: '0.1.0',
    contract: 1,
    summary: 'OpenAI’s moderations API.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: [],
    dialects: [MODERATIONS],
  },
  setup(ctx) {
    ctx.provide(dialects, moderations)
    ctx.provide(surfaces, {
      id: MODERATIONS,
      paths: ['/v1/moderations'],
      dialect: MODERATIONS,
      operation: MODERATIONS,
      read: ({ json }) => readModerations(json),
    })
  },
})
