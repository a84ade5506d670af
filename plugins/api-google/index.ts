import { middleware } from 'model-gateway/middleware'
import { definePlugin, type JsonObject, Type } from 'model-gateway/plugin'
import { conversions, dialects, surfaces } from 'model-gateway/surface'
import { chatTies } from '../_shared/ties.ts'
import { readGoogle } from './_shared/request.ts'
import * as contract from './contract.ts'
import { createEstimate } from './count.ts'
import { googleDialect } from './dialect/index.ts'
import { createGoogleDoor } from './door.ts'
import { googleError } from './error.ts'
import { googleToChat } from './to-chat/conversion.ts'

const GOOGLE = googleDialect.id

/** `POST /v1beta/models/{model}:generateContent` and related methods, on all routes with chat. */
export default definePlugin({
  manifest: {
    id: 'plugin.api-google',
    version: '0.1.0',
    contract: 1,
    summary: 'Google’s generateContent API.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: [],
    requires: ['plugin.api-chat'],
    dialects: [GOOGLE],
  },
  contracts: { 'model-gateway/google': contract },
  setup(ctx) {
    const estimate = createEstimate(ctx)
    const { door, stopCounts } = createGoogleDoor(estimate.tokensOf)
    ctx.provide(dialects, googleDialect)
    ctx.provide(conversions, googleToChat)
    ctx.provide(middleware, stopCounts)
    ctx.provide(surfaces, {
      id: GOOGLE,
      paths: ['/v1beta/models/*', '/v1/models/*'],
      door,
      keyHeaders: ['x-goog-api-key', 'x-gateway-api-key'],
      dialect: GOOGLE,
      operation: GOOGLE,
      read: ({ json }) => readGoogle(json),
      ties: ({ contents }: JsonObject) => chatTies({ messages: contents ?? null }),
      error: googleError,
    })
    return estimate.close
  },
})
