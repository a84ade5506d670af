import { definePlugin, Type } from 'model-gateway/plugin'
import { conversions, dialects, surfaces } from 'model-gateway/surface'
import { chatTies } from '../_shared/ties.ts'
import { COUNT_TOKENS, createCountTokens } from './count-tokens/dialect.ts'
import { readCount } from './count-tokens/request.ts'
import { messagesDialect } from './dialect/index.ts'
import { messagesError } from './error.ts'
import { messagesToChat } from './to-chat/conversion.ts'
import { withExactInputs } from './to-chat/inputs.ts'
import { readMessages } from './to-chat/request.ts'

/** `POST /v1/messages` on routes with this dialect or chat completions, and its token counting. */
export default definePlugin({
  manifest: {
    id: 'plugin.api-messages',
    version: '0.1.0',
    contract: 1,
    summary: 'Anthropic’s messages API.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: [],
    requires: ['plugin.api-chat'],
    dialects: [messagesDialect.id, COUNT_TOKENS],
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
      // Official clients read another header.
      headers: (requestId) => ({ 'request-id': requestId }),
    })
    const counting = createCountTokens(ctx)
    ctx.provide(dialects, counting.dialect)
    ctx.provide(surfaces, {
      id: COUNT_TOKENS,
      paths: ['/v1/messages/count_tokens'],
      dialect: COUNT_TOKENS,
      operation: COUNT_TOKENS,
      capability: 'chat_completions',
      priced: false,
      read: ({ json, header }) => readCount(json, header('anthropic-beta')),
      error: messagesError,
      headers: (requestId) => ({ 'request-id': requestId }),
    })
    return counting.close
  },
})
