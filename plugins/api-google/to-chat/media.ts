import type { JsonObject } from 'model-gateway/plugin'
import { invalid } from 'model-gateway/wire'
import { objectIn, textIn } from '../_shared/shape.ts'

/** Audio formats by media type, where the names differ. */
const FORMATS: Readonly<Record<string, string>> = { mpeg: 'mp3', 'x-wav': 'wav', wave: 'wav' }

/**
 * Converts a data or file part to a chat message part; undefined for other parts. Throws
 * GatewayError `invalid_request`.
 */
export function mediaPart(part: JsonObject, at: string): JsonObject | undefined {
  const inline = objectIn(part, 'inlineData')
  const file = objectIn(part, 'fileData')
  const media = inline ?? file
  if (media === undefined) return undefined
  const place = `${at}.${inline === undefined ? 'fileData' : 'inlineData'}`
  const type = textIn(media, 'mimeType') ?? ''
  const filename = textIn(media, 'displayName') ?? 'document'
  if (inline === undefined) {
    const url = stated(media, 'fileUri', place)
    return type.startsWith('image/')
      ? { type: 'image_url', image_url: { url } }
      : { type: 'file', file: { filename, file_url: url } }
  }
  if (type === '') throw invalid(`${place}.mimeType must be a media type, such as image/png`)
  const data = stated(media, 'data', place)
  const url = `data:${type};base64,${data}`
  if (type.startsWith('image/')) return { type: 'image_url', image_url: { url } }
  if (type.startsWith('audio/')) {
    const subtype = type.slice('audio/'.length).split(';')[0] ?? ''
    return { type: 'input_audio', input_audio: { data, format: FORMATS[subtype] ?? subtype } }
  }
  return { type: 'file', file: { filename, file_data: url } }
}

function stated(media: JsonObject, name: string, place: string): string {
  const value = textIn(media, name)
  if (value !== undefined && value !== '') return value
  throw invalid(`${place}.${name} must be a non-empty string`)
}
