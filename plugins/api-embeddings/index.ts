import { definePlugin, Type } from 'model-gateway/plugin'
import { type Dialect, dialects, surfaces } from 'model-gateway/surface'
import { readEmbeddingsReply, readEmbeddingsRequest } from 'model-gateway/wire'

const EMBEDDINGS = 'embeddings'

const embeddings: Dialect = { id: EMBEDDINGS, readReply: readEmbeddingsReply }

/** `POST /v1/embeddings`. */
export default definePlugin({
  manifest: {
    id: 'plugin.api-embeddings',
    version: '0.1.0',
    contract: 1,
    summary: 'OpenAI’s embeddings API.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: [],
    dialects: [EMBEDDINGS],
  },
  setup(ctx) {
    ctx.provide(dialects, embeddings)
    ctx.provide(surfaces, {
      id: EMBEDDINGS,
      paths: ['/v1/embeddings'],
      dialect: EMBEDDINGS,
      operation: EMBEDDINGS,
      read: ({ json }) => readEmbeddingsRequest(json),
    })
  },
})
