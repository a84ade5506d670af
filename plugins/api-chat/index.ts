import { definePlugin, Type } from 'model-gateway/plugin'
import { type Dialect, dialects, surfaces } from 'model-gateway/surface'
import {
  chatChunkText,
  chatEvents,
  chatTies,
  chatToolCalls,
  collectChat,
  createChatStream,
  earlierChatToolCalls,
  readChatReply,
  readChatRequest,
} from 'model-gateway/wire'

const CHAT = 'chat_completions'

export const chat: Dialect = {
  id: CHAT,
  readReply: readChatReply,
  streaming: {
    open: createChatStream,
    collect: collectChat,
    tell: chatEvents,
    textOf: chatChunkText,
  },
  views: { madeToolCalls: chatToolCalls, earlierToolCalls: earlierChatToolCalls },
}

/** `POST /v1/chat/completions`, and the dialect in which most routes are executed. */
export default definePlugin({
  manifest: {
    id: 'plugin.api-chat',
    version: '0.1.0',
    contract: 1,
    summary: 'The chat completions API of OpenAI.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: [],
    dialects: [CHAT],
  },
  setup(ctx) {
    ctx.provide(dialects, chat)
    ctx.provide(surfaces, {
      id: CHAT,
      paths: ['/v1/chat/completions'],
      dialect: CHAT,
      operation: CHAT,
      read: ({ json }) => readChatRequest(json),
      ties: chatTies,
    })
  },
})
