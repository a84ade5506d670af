import { middleware } from 'model-gateway/middleware'
import { definePlugin, strictObject, Type } from 'model-gateway/plugin'
import { capTokens, tellCap } from './cap.ts'

export default definePlugin({
  manifest: {
    id: 'middleware.sample-name',
    version: '0.1.0',
    contract: 1,
    summary: 'Caps the output tokens that a request may ask for.',
    config: strictObject({
      max_tokens: Type.Integer({ minimum: 1, default: 1000 }),
    }),
    needs: [],
  },
  setup(ctx) {
    ctx.provide(middleware, capTokens(ctx.config.max_tokens))
    ctx.provide(middleware, tellCap)
  },
})
