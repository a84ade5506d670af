import { definePlugin, isJsonObject, type JsonValue, Type } from 'model-gateway/plugin'
import { dialects, type ReplyFacts, surfaces } from 'model-gateway/surface'
import { readResponsesRequest, responsesDialect, type Usage } from 'model-gateway/wire'
import { responsesTies } from '../_shared/ties.ts'
import { responsesError } from './error.ts'
import { responsesRefusal } from './refusal.ts'

const RESPONSES = responsesDialect.id

/** `POST /v1/responses`; calls are never converted. */
export default definePlugin({
  manifest: {
    id: 'plugin.api-responses',
    version: '0.1.0',
    contract: 1,
    summary: 'OpenAI’s responses API.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: [],
    dialects: [RESPONSES],
  },
  setup(ctx) {
    ctx.provide(dialects, { ...responsesDialect, readReply, refusal: responsesRefusal })
    ctx.provide(surfaces, {
      id: RESPONSES,
      paths: ['/v1/responses'],
      dialect: RESPONSES,
      operation: RESPONSES,
      read: ({ json }) => readResponsesRequest(json),
      ties: responsesTies,
      error: responsesError,
    })
  },
})

const NOTHING_YET: Usage = {
  uncachedInput: 0,
  cacheRead: undefined,
  cacheWrite: undefined,
  output: 0,
  reasoning: undefined,
  promptTokens: 0,
  totalTokens: 0,
}

/**
 * The usage of a background response is not known yet: the plugin that stores its id charges it
 * when it ends.
 */
function readReply(body: JsonValue): ReplyFacts {
  const facts = responsesDialect.readReply(body)
  const { background, status } = isJsonObject(body) ? body : {}
  const runs = background === true && (status === 'queued' || status === 'in_progress')
  return runs && facts.usage === undefined ? { ...facts, usage: NOTHING_YET } : facts
}
