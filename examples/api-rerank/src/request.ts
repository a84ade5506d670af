import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { GuardTexts, SurfaceCall } from 'model-gateway/surface'
import { invalid } from 'model-gateway/wire'

/** Checks only what the gateway needs of a request; the vendor validates the rest. */
export function readRerank(body: JsonValue): SurfaceCall {
  if (!isJsonObject(body)) throw invalid('the request body must be a JSON object')
  const { model, query, documents, stream } = body
  if (typeof model !== 'string' || model === '') throw invalid('model must be a non-empty string')
  if (typeof query !== 'string' || query === '') throw invalid('query must be a non-empty string')
  if (!Array.isArray(documents) || documents.length === 0) {
    throw invalid('documents must be a non-empty array')
  }
  for (const [i, document] of documents.entries()) {
    if (textOf(document) === undefined) {
      throw invalid(`documents.${i} must be a string, or an object with a text`)
    }
  }
  if (stream === true) throw invalid('stream is not available for rerank: leave it out')
  return { model, stream: false, features: [], exposedToolCount: undefined }
}

/** The texts that guards check and may change: the query and the documents. */
export function promptTexts(body: JsonObject): GuardTexts {
  const documents = Array.isArray(body.documents) ? body.documents : []
  const query = typeof body.query === 'string' ? body.query : ''
  return {
    segments: [query, ...documents.map((document) => textOf(document) ?? '')],
    replace: ([newQuery = query, ...texts]) => ({
      ...body,
      query: newQuery,
      documents: documents.map((document, i) => withText(document, texts[i])),
    }),
  }
}

function textOf(document: JsonValue): string | undefined {
  const text = isJsonObject(document) ? document.text : document
  return typeof text === 'string' ? text : undefined
}

function withText(document: JsonValue, text: string | undefined): JsonValue {
  if (text === undefined) return document
  return isJsonObject(document) ? { ...document, text } : text
}
