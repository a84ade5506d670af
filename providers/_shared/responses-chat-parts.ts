import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { isThought } from './chat-content.ts'
import { invalidRequest } from './invalid-request.ts'

export interface PartReader {
  /** Called with each member that is left out. */
  dropped(name: string): void
}

/** A content as parts of an input message; no parts for an empty one. */
export function inputParts(
  content: JsonValue | undefined,
  place: string,
  reader: PartReader,
  only?: 'text alone',
): JsonObject[] {
  return partsOf(content, place, reader).map(({ part, at }) => {
    const read = textPart(part, at, 'input_text') ?? (only ? undefined : mediaPart(part, at))
    if (read !== undefined) return { ...read, ...breakpoint(part) }
    throw only === undefined
      ? notSupported(part, at)
      : invalidRequest(`${at}: only text is possible here`)
  })
}

/** An assistant's content as parts of an output message. */
export function answerParts(message: JsonObject, place: string, reader: PartReader): JsonObject[] {
  const { content, refusal } = message
  const parts = partsOf(content, place, reader).flatMap(({ part, at }) => {
    const said = textPart(part, at, 'output_text') ?? refusalPart(part)
    if (said === undefined) throw notSupported(part, at)
    return said.text === '' ? [] : [said]
  })
  if (parts.length > 0 || typeof refusal !== 'string' || refusal === '') return parts
  return [{ type: 'refusal', refusal }]
}

/** A tool's result: a string, or a list if it has more than text. */
export function toolOutput(
  content: JsonValue | undefined,
  place: string,
  reader: PartReader,
): JsonValue {
  const parts = inputParts(content, place, reader)
  const [first, ...others] = parts
  if (first === undefined) return ''
  return others.length === 0 && first.type === 'input_text' ? (first.text ?? '') : parts
}

/** The parts of a content, without reasoning that clients send back. */
function partsOf(content: JsonValue | undefined, place: string, { dropped }: PartReader) {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') {
    return [{ part: { type: 'text', text: content }, at: `${place}.content` }]
  }
  if (!Array.isArray(content)) {
    throw invalidRequest(`${place}.content must be a string or a list of parts`)
  }
  return content.flatMap((part, index) => {
    const at = `${place}.content.${index}`
    if (!isJsonObject(part)) throw invalidRequest(`${at} must be an object`)
    if (isJsonObject(part.cache_control)) dropped('messages[].content[].cache_control')
    if (!isThought(part)) return [{ part, at }]
    dropped(`messages[].content[].${part.type}`)
    return []
  })
}

function textPart(part: JsonObject, at: string, type: string): JsonObject | undefined {
  if (part.type !== 'text' && part.type !== 'input_text' && part.type !== 'output_text') {
    return undefined
  }
  if (typeof part.text !== 'string') throw invalidRequest(`${at}.text must be a string`)
  return { type, text: part.text }
}

function refusalPart({ type, refusal }: JsonObject): JsonObject | undefined {
  return type === 'refusal' && typeof refusal === 'string' ? { type, refusal } : undefined
}

/** Both of OpenAI's APIs have it on parts of each type. */
function breakpoint({ prompt_cache_breakpoint: mark }: JsonObject): JsonObject {
  return isJsonObject(mark) ? { prompt_cache_breakpoint: mark } : {}
}

function mediaPart(part: JsonObject, at: string): JsonObject | undefined {
  switch (part.type) {
    case 'image_url':
    case 'input_image':
    case 'image':
      return imagePart(part, at)
    case 'file':
    case 'input_file':
    case 'document':
      return filePart(part, at)
    default:
      return undefined
  }
}

function imagePart(part: JsonObject, at: string): JsonObject {
  const { image_url: image, source, file_id } = part
  const { url, detail } = isJsonObject(image) ? image : { url: image }
  const image_url = url ?? (isJsonObject(source) ? sourceUrl(source, at) : undefined)
  const from =
    typeof image_url === 'string'
      ? { image_url }
      : typeof file_id === 'string'
        ? { file_id }
        : undefined
  if (from === undefined) throw invalidRequest(`${at}.image_url must be a URL`)
  return { type: 'input_image', ...from, detail: detail ?? part.detail ?? 'auto' }
}

/** Members with a file: the first that is present is used. */
const FILES = ['file_data', 'file_id', 'file_url'] as const

function filePart(part: JsonObject, at: string): JsonObject {
  const stated = isJsonObject(part.file) ? part.file : part
  const { source, filename } = stated
  const file: JsonObject = isJsonObject(source) ? documentOf(source, at) : stated
  const member = FILES.find((name) => typeof file[name] === 'string')
  if (member === undefined) {
    throw invalidRequest(`${at} must have file_data, file_id or file_url`)
  }
  const given = file[member]
  return {
    type: 'input_file',
    [member]: given,
    ...(member === 'file_data' && { filename: fileName(filename, String(given)) }),
  }
}

/**
 * A document of the messages API, without title and never as plain text, because guards do not read
 * those.
 */
function documentOf(source: JsonObject, at: string): JsonObject {
  const url = sourceUrl(source, at)
  return source.type === 'url' ? { file_url: url } : { file_data: url }
}

function sourceUrl({ type, media_type, data, url }: JsonObject, at: string): string {
  if (type === 'url' && typeof url === 'string') return url
  if (typeof data === 'string' && type === 'base64' && typeof media_type === 'string') {
    return `data:${media_type};base64,${data}`
  }
  throw invalidRequest(`${at}.source must be base64 with media_type and data, or a url`)
}

/** The service detects the file type by the extension. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['application/json', 'json'],
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
  ['text/html', 'html'],
  ['text/csv', 'csv'],
])

function fileName(name: JsonValue | undefined, dataUrl: string): string {
  const own = typeof name === 'string' && name !== '' ? name : 'document'
  const type = /^data:([^;,]*)/i.exec(dataUrl)?.[1]?.toLowerCase() ?? ''
  const extension = EXTENSIONS.get(type)
  return extension === undefined || /\.\w{1,5}$/.test(own) ? own : `${own}.${extension}`
}

function notSupported({ type }: JsonObject, at: string) {
  return invalidRequest(`${at}.type: ${JSON.stringify(type ?? null)} is not supported`)
}
