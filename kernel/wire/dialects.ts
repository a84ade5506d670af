import { isJsonObject, type JsonValue } from '../plugin/json.ts'
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

/** OpenAI's chat completions, the dialect of most routes. */
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

/** OpenAI's responses. */
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

/** State of a response at the provider: its id, that of its conversation, and encrypted parts. */
function responsesStateIn(said: JsonValue | undefined): readonly string[] {
  const event = isJsonObject(said) ? said : {}
  const response = isJsonObject(event.response) ? event.response : event
  const { id, conversation, output } = response
  const ids = [id, isJsonObject(conversation) ? conversation.id : conversation]
  for (const item of Array.isArray(output) ? output.filter(isJsonObject) : []) {
    ids.push(item.encrypted_content, item.container_id)
    if (item.type === 'reasoning') ids.push(item.id)
  }
  return ids.filter((one): one is string => typeof one === 'string' && one !== '')
}
