import { definePlugin, isJsonObject, type JsonValue, Type } from 'model-gateway/plugin'
import { dialects, type SurfaceCall, surfaces } from 'model-gateway/surface'
import { invalid, readCommon } from 'model-gateway/wire'
import { RERANK, rerank } from './dialect.ts'

/** Checks what the gateway needs of a request of any vendor; the vendor validates the rest. */
function readRerank(value: JsonValue): SurfaceCall {
  if (!isJsonObject(value)) throw invalid('the request body must be a JSON object')
  const call = readCommon(value)
  if (call.stream) throw invalid('stream is not available for rerank: leave it out')
  const { query, documents } = value
  if (!isText(query)) throw invalid('query must be a non-empty string')
  if (!Array.isArray(documents) || documents.length === 0) {
    throw invalid('documents must be a non-empty array of strings or objects')
  }
  for (const [at, document] of documents.entries()) {
    if (typeof document !== 'string' && !isJsonObject(document)) {
      throw invalid(`documents.${at} must be a string or an object`)
    }
  }
  return { ...call, features: [], exposedToolCount: undefined }
}

/** Jina also accepts images as queries: `{image}`. */
function isText(query: JsonValue | undefined): boolean {
  return (typeof query === 'string' && query !== '') || isJsonObject(query)
}

/** `POST /v1/rerank` and `/v2/rerank`. */
export default definePlugin({
  manifest: {
    id: 'plugin.api-rerank',
    version: '0.1.0',
    contract: 1,
    summary: 'Rerank API as in Cohere, Jina, Voyage and vLLM.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: [],
    dialects: [RERANK],
  },
  setup(ctx) {
    ctx.provide(dialects, rerank)
    ctx.provide(surfaces, {
      id: RERANK,
      paths: ['/v1/rerank', '/v2/rerank'],
      dialect: RERANK,
      operation: RERANK,
      read: ({ json }) => readRerank(json),
    })
  },
})
