import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { isThought } from './chat-content.ts'
import { isMediaPart, mediaPart } from './google-content-media.ts'
import { signatureOf } from './google-content-signatures.ts'
import { invalidRequest } from './invalid-request.ts'

export interface PartReader {
  /** Called with each member that is left out. */
  dropped(name: string): void
}

/** A content as parts, without empty texts, which the upstream refuses. */
export function chatParts(
  content: JsonValue | undefined,
  place: string,
  reader: PartReader,
): JsonObject[] {
  return readParts(content, place, reader).flatMap(({ part, at }) => {
    if (isText(part)) {
      const text = textPart(part, at)
      return text === '' ? [] : [{ text }]
    }
    if (isMediaPart(part)) return [mediaPart(part, at)]
    if (isThought(part)) {
      reader.dropped(`messages[].content[].${part.type}`)
      return []
    }
    throw invalidRequest(`${at}.type: ${JSON.stringify(part.type ?? null)} is not supported`)
  })
}

/** Images from earlier model turns, each with its signature. */
export function imageParts(images: JsonValue | undefined, place: string): JsonObject[] {
  if (!Array.isArray(images)) return []
  return images.filter(isJsonObject).map((image, index) => {
    const signature = signatureOf(image)
    return {
      ...mediaPart(image, `${place}.images.${index}`),
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    }
  })
}

/** The texts of a content that may only contain text. */
export function textsOf(
  content: JsonValue | undefined,
  place: string,
  reader: PartReader,
): string[] {
  return readParts(content, place, reader).map(({ part, at }) => {
    if (isText(part)) return textPart(part, at)
    throw invalidRequest(`${at}: only text is possible here`)
  })
}

function readParts(content: JsonValue | undefined, place: string, { dropped }: PartReader) {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') {
    return [{ part: { type: 'text', text: content }, at: `${place}.content` }]
  }
  if (!Array.isArray(content)) {
    throw invalidRequest(`${place}.content must be a string or a list of parts`)
  }
  return content.map((part, index) => {
    const at = `${place}.content.${index}`
    if (!isJsonObject(part)) throw invalidRequest(`${at} must be an object`)
    if (isJsonObject(part.cache_control)) dropped('messages[].content[].cache_control')
    return { part, at }
  })
}

function isText({ type }: JsonObject): boolean {
  return type === 'text' || type === 'input_text' || type === 'output_text'
}

function textPart({ text }: JsonObject, at: string): string {
  if (typeof text !== 'string') throw invalidRequest(`${at}.text must be a string`)
  return text
}
