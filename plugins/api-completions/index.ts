import { definePlugin, Type } from 'model-gateway/plugin'
import { conversions, dialects, surfaces } from 'model-gateway/surface'
import { COMPLETIONS, completions } from './dialect.ts'
import { readCompletions } from './request.ts'
import { completionsToChat } from './to-chat.ts'

/** `POST /v1/completions` on routes with this dialect, or with chat completions. */
export default definePlugin({
  manifest: {
    id: 'plugin.api-completions',
    version: '0.1.0',
    contract: 1,
    summary: 'OpenAI’s legacy text completions API.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: [],
    requires: ['plugin.api-chat'],
    dialects: [COMPLETIONS],
  },
  setup(ctx) {
    ctx.provide(dialects, completions)
    ctx.provide(conversions, completionsToChat)
    ctx.provide(surfaces, {
      id: COMPLETIONS,
      paths: ['/v1/completions'],
      dialect: COMPLETIONS,
      operation: COMPLETIONS,
      read: ({ json }) => readCompletions(json),
    })
  },
})
