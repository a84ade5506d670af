import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { imageType } from './chat-content.ts'
import { extensionType, typeOfUrl } from './google-content-types.ts'
import { invalidRequest } from './invalid-request.ts'

/** Types of content parts with a file, remote or inline. */
const MEDIA_PARTS: ReadonlySet<unknown> = new Set([
  'image',
  'image_url',
  'input_image',
  'audio',
  'audio_url',
  'input_audio',
  'video',
  'video_url',
  'input_video',
  'file',
  'input_file',
  'document',
])

/** Members with the media type; guards know only those of a document. */
const TYPES_OF_TEXT = ['mime_type', 'media_type', 'mediaType'] as const
const OTHER_TYPES = ['mimeType', 'content_type', 'format'] as const

const TYPE = /^[\w.+-]+\/[\w.+-]+$/
/** Media types that are never read as text. */
const NOT_TEXT = /^(?:(?:image|audio|video)\/[\w.+-]+|application\/pdf)$/

/** Files of AI Studio, which stores their types (ai.google.dev/api/files). */
const UPLOADED = /^https:\/\/generativelanguage\.googleapis\.com\/\w+\/files\//

export function isMediaPart(part: JsonObject): boolean {
  return MEDIA_PARTS.has(part.type)
}

/**
 * A file as a Google content part: `inlineData` for a data URL or base64, `fileData` for a gs:// or
 * https:// URL. Throws GatewayError `invalid_request`.
 */
export function mediaPart(part: JsonObject, place: string): JsonObject {
  const payload = payloadOf(part)
  const owners = isJsonObject(payload) ? [part, payload] : [part]
  const stated = statedType(owners, place)
  const data = isJsonObject(payload) && payload.type !== 'text' ? payload.data : undefined
  if (typeof data === 'string' && !/^data:/i.test(data)) {
    if (stated === undefined) throw invalidRequest(`${place} must have a media type and data`)
    if (!NOT_TEXT.test(stated) && !owners.some((owner) => statesText(owner, stated))) {
      throw invalidRequest(`${place}: set media_type to the type of a text`)
    }
    return { inlineData: { mimeType: stated, data: data.replace(/\s+/g, '') } }
  }
  const url = typeof data === 'string' ? data : urlOf(payload)
  if (url === undefined) throw invalidRequest(`${place} must hold a data:, gs:// or https:// URL`)
  const named = stated ?? nameType(owners)
  return /^data:/i.test(url) ? inlineData(url, stated, named, place) : fileData(url, named, place)
}

/** Whether a guard has read the data as text. */
function statesText(owner: JsonObject, type: string): boolean {
  return TYPES_OF_TEXT.some((name) => String(owner[name]).toLowerCase() === type)
}

/** The description of the file: an object, or its URL. */
function payloadOf(part: JsonObject): JsonValue | undefined {
  const { type, source } = part
  const own = typeof type === 'string' ? part[type] : undefined
  return (
    own ??
    part.image_url ??
    part.audio_url ??
    part.video_url ??
    part.input_audio ??
    part.file ??
    source ??
    part
  )
}

function urlOf(payload: JsonValue | undefined): string | undefined {
  if (typeof payload === 'string') return payload
  if (!isJsonObject(payload)) return undefined
  const url = [payload.url, payload.file_data, payload.file_url, payload.file_uri].find(
    (value) => typeof value === 'string',
  )
  if (typeof url === 'string') return url
  // File ids are OpenAI's, but some callers write a bucket URL there.
  const { file_id: id } = payload
  return typeof id === 'string' && id.includes('://') ? id : undefined
}

function statedType(owners: readonly JsonObject[], place: string): string | undefined {
  const stated = owners
    .flatMap((owner) => [...TYPES_OF_TEXT, ...OTHER_TYPES].map((name) => owner[name]))
    .filter((value) => value !== undefined && value !== null)
    .map((value) => readType(value, place))
  const [first, ...others] = new Set(stated)
  if (others.length > 0) throw invalidRequest(`${place}: its media types contradict each other`)
  return first
}

function readType(value: JsonValue | undefined, place: string): string {
  const type = typeof value === 'string' ? extensionType(value) : undefined
  if (type !== undefined) return type
  const [written = ''] = String(value).split(';')
  if (!TYPE.test(written.trim())) {
    throw invalidRequest(`${place}: its media type must be like image/png`)
  }
  return commonType(written)
}

/** Accepts common other names for JPEG and MP3. */
function commonType(written: string): string {
  const type = imageType(written.trim().toLowerCase())
  return type === 'audio/mp3' ? 'audio/mpeg' : type
}

/** The type by the file name's extension. */
function nameType(owners: readonly JsonObject[]): string | undefined {
  for (const { filename, name, title } of owners) {
    const type = [filename, name, title].find((value) => typeof value === 'string')
    const known = typeof type === 'string' ? typeOfUrl(`file:///${encodeURI(type)}`) : undefined
    if (known !== undefined) return known
  }
  return undefined
}

function inlineData(
  url: string,
  stated: string | undefined,
  named: string | undefined,
  place: string,
): JsonObject {
  const comma = url.indexOf(',')
  const [type = '', ...parameters] = url.slice('data:'.length, Math.max(comma, 5)).split(';')
  // Guards read texts in data URLs of this form.
  if (comma === -1 || parameters.at(-1)?.toLowerCase() !== 'base64') {
    throw invalidRequest(`${place}: its data URL must be in base64`)
  }
  if (type !== '' && !TYPE.test(type))
    throw invalidRequest(`${place}: its data URL has no media type`)
  const written = type === '' ? undefined : commonType(type)
  const vague =
    written === 'application/octet-stream' && named !== undefined && NOT_TEXT.test(named)
  const mimeType = vague ? named : (written ?? named)
  if (mimeType === undefined) throw invalidRequest(`${place}: its data URL has no media type`)
  if (stated !== undefined && stated !== mimeType) {
    throw invalidRequest(`${place}: its media types contradict each other`)
  }
  return { inlineData: { mimeType, data: url.slice(comma + 1).replace(/\s+/g, '') } }
}

function fileData(fileUri: string, named: string | undefined, place: string): JsonObject {
  if (!/^(?:gs|https):\/\/[^/?#]/i.test(fileUri) || !URL.canParse(fileUri)) {
    throw invalidRequest(`${place}: its URL must begin with data:, gs:// or https://`)
  }
  const mimeType = named ?? typeOfUrl(fileUri)
  if (mimeType === undefined && UPLOADED.test(fileUri)) return { fileData: { fileUri } }
  if (mimeType === undefined) {
    throw invalidRequest(`${place}: set mime_type, which the URL does not show`)
  }
  return { fileData: { fileUri, mimeType } }
}
