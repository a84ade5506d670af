import type { Dialect } from '../plugin/surface.ts'
import { createChatStream } from './chat-stream.ts'
import { chatEvents, collectChat } from './collect-chat.ts'
import { collectResponse, responseEvents } from './collect-responses.ts'
import {
  chatToolCalls,
  earlierChatToolCalls,
  earlierResponsesToolCalls,
  responsesToolCalls,
} from './guard-tool-calls.ts'
import { chatChunkText, responsesEventText } from './model-text.ts'
import { readChatReply, readResponsesReply } from './reply.ts'
import { createResponsesStream } from './responses-stream.ts'
import { responsesStateIn } from './ties.ts'

/** Chat completions of OpenAI, the dialect in which most routes are executed. */
export const chatDialect = {
  id: 'chat_completions',
  readReply: readChatReply,
  streaming: {
    open: createChatStream,
    collect: collectChat,
    tell: chatEvents,
    textOf: chatChunkText,
  },
  views: { madeToolCalls: chatToolCalls, earlierToolCalls: earlierChatToolCalls },
} as const satisfies Dialect

/** Responses of OpenAI. */
export const responsesDialect = {
  id: 'responses',
  readReply: readResponsesReply,
  streaming: {
    open: createResponsesStream,
    collect: collectResponse,
    tell: responseEvents,
    textOf: responsesEventText,
  },
  views: { madeToolCalls: responsesToolCalls, earlierToolCalls: earlierResponsesToolCalls },
  stateIn: responsesStateIn,
} as const satisfies Dialect
