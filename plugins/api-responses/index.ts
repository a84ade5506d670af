import { definePlugin, Type } from 'model-gateway/plugin'
import { dialects, surfaces } from 'model-gateway/surface'
import { readResponsesRequest, responsesDialect } from 'model-gateway/wire'
import { responsesTies } from '../_shared/ties.ts'
import { responsesError } from './error.ts'
import { responsesRefusal } from './refusal.ts'

const RESPONSES = responsesDialect.id

/** `POST /v1/responses`: calls of it are never translated. */
export default definePlugin({
  manifest: {
    id: 'plugin.api-responses',
    version: '0.1.0',
    contract: 1,
    summary: 'The responses API of OpenAI.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: [],
    dialects: [RESPONSES],
  },
  setup(ctx) {
    ctx.provide(dialects, { ...responsesDialect, refusal: responsesRefusal })
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
