import { definePlugin, Type } from 'model-gateway/plugin'
import { conversions, dialects, surfaces } from 'model-gateway/surface'
import { chatTies } from 'model-gateway/wire'
import { messagesDialect } from './dialect/index.ts'
import { messagesError } from './error.ts'
import { messagesToChat } from './to-chat/conversion.ts'
import { withExactInputs } from './to-chat/inputs.ts'
import { readMessages } from './to-chat/request.ts'

/** `POST /v1/messages`, on every route that executes its dialect, or chat completions. */
export default definePlugin({
  manifest: {
    id: 'plugin.api-messages',
    version: '0.1.0',
    contract: 1,
    summary: 'The messages API of Anthropic.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: [],
    requires: ['plugin.api-chat'],
    dialects: [messagesDialect.id],
  },
  setup(ctx) {
    ctx.provide(dialects, messagesDialect)
    ctx.provide(conversions, messagesToChat)
    ctx.provide(surfaces, {
      id: messagesDialect.id,
      paths: ['/v1/messages'],
      dialect: messagesDialect.id,
      operation: 'chat_completions',
      read: ({ json, rawBody, header }) =>
        readMessages(withExactInputs(json, rawBody), header('anthropic-beta')),
      ties: chatTies,
      error: messagesError,
      keepAlive: 'event: ping\ndata: {"type": "ping"}\n\n',
      // Official clients look for a header of their own.
      headers: (requestId) => ({ 'request-id': requestId }),
    })
  },
})
