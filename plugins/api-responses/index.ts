import { definePlugin, Type } from 'model-gateway/plugin'
import { type Dialect, dialects, surfaces } from 'model-gateway/surface'
import {
  collectResponse,
  createResponsesStream,
  earlierResponsesToolCalls,
  readResponsesReply,
  readResponsesRequest,
  responseEvents,
  responsesEventText,
  responsesStateIn,
  responsesTies,
  responsesToolCalls,
} from 'model-gateway/wire'
import { responsesError } from './error.ts'

const RESPONSES = 'responses'

export const responses: Dialect = {
  id: RESPONSES,
  readReply: readResponsesReply,
  streaming: {
    open: createResponsesStream,
    collect: collectResponse,
    tell: responseEvents,
    textOf: responsesEventText,
  },
  views: { madeToolCalls: responsesToolCalls, earlierToolCalls: earlierResponsesToolCalls },
  stateIn: responsesStateIn,
}

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
    ctx.provide(dialects, responses)
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
