import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { imageType } from './chat-content.ts'
import { invalidRequest } from './invalid-request.ts'

/** Types of content parts that hold a file, remote or inline. */
const MEDIA_PARTS: ReadonlySet<unknown> = new Set([
  'image_url',
  'input_image',
  'video_url',
  'input_video',
  'file',
  'document',
])

/** Media types by the extension of a remote file. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['png', 'image/png'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['mp4', 'video/mp4'],
  ['mpeg', 'video/mpeg'],
  ['mpg', 'video/mpeg'],
  ['mov', 'video/quicktime'],
  ['avi', 'video/x-msvideo'],
  ['wmv', 'video/x-ms-wmv'],
  ['webm', 'video/webm'],
  ['flv', 'video/x-flv'],
  ['3gp', 'video/3gpp'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['flac', 'audio/flac'],
  ['aac', 'audio/aac'],
  ['ogg', 'audio/ogg'],
  ['m4a', 'audio/mp4'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['html', 'text/html'],
  ['csv', 'text/csv'],
])

export function isMediaPart(part: JsonObject): boolean {
  return MEDIA_PARTS.has(part.type)
}

/**
 * A file as a part of Google content: `inlineData` for a data URL or a base64 source, `fileData`
 * for a gs:// or https:// URL. Throws GatewayError `invalid_request`.
 */
export function mediaPart(part: JsonObject, place: string): JsonObject {
  const payload = payloadOf(part)
  const stated = statedType(isJsonObject(payload) ? [part, payload] : [part], place)
  if (isJsonObject(payload) && payload.type === 'base64') {
    if (stated === undefined || typeof payload.data !== 'string') {
      throw invalidRequest(`${place} must have a media type and data`)
    }
    return { inlineData: { mimeType: stated, data: payload.data } }
  }
  const url = urlOf(payload)
  if (url === undefined) throw invalidRequest(`${place} must hold a data:, gs:// or https:// URL`)
  return /^data:/i.test(url) ? inlineData(url, stated, place) : fileData(url, stated, place)
}

/** What describes the file: an object, or its URL alone. */
function payloadOf(part: JsonObject): JsonValue | undefined {
  const { type, source } = part
  const own = typeof type === 'string' ? part[type] : undefined
  return own ?? part.image_url ?? part.video_url ?? part.file ?? source ?? part
}

function urlOf(payload: JsonValue | undefined): string | undefined {
  if (typeof payload === 'string') return payload
  if (!isJsonObject(payload)) return undefined
  const url = payload.url ?? payload.file_data ?? payload.file_url ?? payload.file_uri
  return typeof url === 'string' ? url : undefined
}

function statedType(owners: readonly JsonObject[], place: string): string | undefined {
  const stated = owners
    .flatMap((owner) => [owner.mime_type, owner.media_type, owner.mediaType])
    .filter((value) => value !== undefined && value !== null)
  const [first, ...others] = new Set(stated)
  if (others.length > 0) throw invalidRequest(`${place}: its media types contradict each other`)
  if (first === undefined) return undefined
  if (typeof first !== 'string' || !/^[\w.+-]+\/[\w.+-]+$/.test(first)) {
    throw invalidRequest(`${place}: its media type must be like image/png`)
  }
  return imageType(first)
}

function inlineData(url: string, stated: string | undefined, place: string): JsonObject {
  const comma = url.indexOf(',')
  const [type = '', ...parameters] = url.slice('data:'.length, Math.max(comma, 5)).split(';')
  if (comma === -1 || parameters.at(-1)?.toLowerCase() !== 'base64') {
    throw invalidRequest(`${place}: its data URL must be in base64`)
  }
  const mimeType = type === '' ? stated : imageType(type.toLowerCase())
  if (mimeType === undefined) throw invalidRequest(`${place}: its data URL has no media type`)
  if (stated !== undefined && stated.toLowerCase() !== mimeType) {
    throw invalidRequest(`${place}: its media types contradict each other`)
  }
  return { inlineData: { mimeType, data: url.slice(comma + 1) } }
}

function fileData(fileUri: string, stated: string | undefined, place: string): JsonObject {
  const url = /^(?:gs|https):\/\//i.test(fileUri) ? URL.parse(fileUri) : null
  if (url === null)
    throw invalidRequest(`${place}: its URL must begin with data:, gs:// or https://`)
  const extension = /\.([a-z0-9]+)$/i.exec(url.pathname)?.[1]?.toLowerCase() ?? ''
  const mimeType = stated ?? EXTENSIONS.get(extension)
  if (mimeType === undefined) {
    throw invalidRequest(`${place}: state its mime_type, which its URL does not tell`)
  }
  return { fileData: { fileUri, mimeType } }
}
