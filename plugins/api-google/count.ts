import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import type { Logger } from 'pino'
import { createTokenCounter } from '../_shared/token-counter.ts'
import { objectIn, objectsIn } from './_shared/shape.ts'
import { promptTexts } from './dialect/views.ts'

/** Tokens of an image, a page or a second of video: https://ai.google.dev/gemini-api/docs/tokens */
const MEDIA_TOKENS = 258

/** Estimates the tokens of a prompt, without asking the upstream. */
export function createEstimate({ log }: { readonly log: Logger }) {
  const counter = createTokenCounter({ log })
  return {
    async tokensOf(request: JsonObject): Promise<number> {
      const declared = objectsIn(request, 'tools').map((tool) => JSON.stringify(tool))
      const texts = [...promptTexts(request).segments, ...declared]
      const tokens = texts.length === 0 ? 0 : await counter.count([texts.join('\n')], 0)
      return tokens + MEDIA_TOKENS * objectsIn(request, 'contents').flatMap(mediaOf).length
    },
    close: counter.close,
  }
}

/** The content to count: the prompt, or a whole request in a separate member. */
export function countedRequest(body: JsonObject): JsonObject {
  return objectIn(body, 'generateContentRequest') ?? body
}

function mediaOf(turn: JsonObject): readonly JsonObject[] {
  return objectsIn(turn, 'parts').filter(
    (part) =>
      isJsonObject(objectIn(part, 'inlineData')) || isJsonObject(objectIn(part, 'fileData')),
  )
}
