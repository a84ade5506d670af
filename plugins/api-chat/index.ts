import { definePlugin, Type } from 'model-gateway/plugin'
import { dialects, surfaces } from 'model-gateway/surface'
import { chatDialect, readChatRequest } from 'model-gateway/wire'
import { chatTies } from '../_shared/ties.ts'
import { chatRefusal } from './refusal.ts'

const CHAT = chatDialect.id

/** `POST /v1/chat/completions`, and the dialect that most routes execute. */
export default definePlugin({
  manifest: {
    id: 'plugin.api-chat',
    version: '0.1.0',
    contract: 1,
    summary: 'OpenAI’s chat completions API.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: [],
    dialects: [CHAT],
  },
  setup(ctx) {
    ctx.provide(dialects, { ...chatDialect, refusal: chatRefusal })
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
