import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { invalidRequest } from './invalid-request.ts'

/** A block of a chat message, normalized from the accepted formats. */
export type ContentBlock = TextBlock | MediaBlock | ToolUseBlock | ToolResultBlock

interface Placed {
  /** Path in the call: `messages.2.content.1`, or `messages.2` for a whole message. */
  readonly place: string
  readonly cacheControl?: JsonValue
}

export interface TextBlock extends Placed {
  readonly kind: 'text'
  readonly text: string
}

/** An image or a document, in base64. */
export interface MediaBlock extends Placed {
  readonly kind: 'image' | 'document'
  /** Lower case, without parameters. */
  readonly mediaType: string
  readonly data: string
  readonly name: string | undefined
  /** Context of a document. */
  readonly context?: string
}

export interface ToolUseBlock extends Placed {
  readonly kind: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: JsonObject
}

export interface ToolResultBlock extends Placed {
  readonly kind: 'tool_result'
  readonly toolCallId: string
  /** A string, or the blocks of a list. */
  readonly content: string | readonly ContentBlock[]
  readonly failed: boolean
}

const IMAGE_TYPES = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif'])
const DATA_URL = /^data:([^;,]*)(?:;[^;,]*)*;base64,/i

/**
 * The blocks of a message's `content`, without blank texts. `place` is the message's path. Throws
 * GatewayError `invalid_request`.
 */
export function readContent(content: JsonValue | undefined, place: string): ContentBlock[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string')
    return isBlank(content) ? [] : [{ kind: 'text', text: content, place }]
  if (!Array.isArray(content)) {
    throw invalidRequest(`${place}.content must be a string or a list of parts`)
  }
  const blocks: ContentBlock[] = []
  for (const [index, part] of content.entries()) {
    const at = `${place}.content.${index}`
    if (!isJsonObject(part)) throw invalidRequest(`${at} must be an object`)
    const block = readPart(part, at)
    if (block !== undefined) blocks.push(block)
  }
  return blocks
}

/** The `content` of an assistant message, or its refusal. */
export function assistantContent({ content, refusal }: JsonObject): JsonValue | undefined {
  if (Array.isArray(content)) return content.map(refusalAsText)
  return typeof refusal === 'string' && (content ?? '') === '' ? refusal : content
}

function refusalAsText(part: JsonValue): JsonValue {
  if (!isJsonObject(part) || part.type !== 'refusal') return part
  return { type: 'text', text: part.refusal ?? null }
}

/** Whether this part is reasoning that a client sends back; it is not sent in later turns. */
export function isThought({ type }: JsonObject): boolean {
  return type === 'thinking' || type === 'redacted_thinking' || type === 'reasoning'
}

/** The texts of a `content` that may only contain text. */
export function readTexts(content: JsonValue | undefined, place: string): TextBlock[] {
  return readContent(content, place).map((block) => {
    if (block.kind === 'text') return block
    throw invalidRequest(`${block.place}: only text is possible here`)
  })
}

function readPart(part: JsonObject, place: string): ContentBlock | undefined {
  const placed = {
    place,
    ...(isJsonObject(part.cache_control) ? { cacheControl: part.cache_control } : {}),
  }
  switch (part.type) {
    case 'text':
    case 'input_text':
    case 'output_text': {
      if (typeof part.text !== 'string') throw invalidRequest(`${place}.text must be a string`)
      return isBlank(part.text) ? undefined : { kind: 'text', text: part.text, ...placed }
    }
    case 'image_url':
    case 'input_image':
      return { ...readImageUrl(part.image_url, `${place}.image_url`), ...placed }
    case 'image':
      return {
        ...imageOf(readSource(part.source, `${place}.source`), `${place}.source`),
        ...placed,
      }
    case 'file':
    case 'input_file':
    case 'document':
      return {
        ...readFile(part, place),
        ...(typeof part.context === 'string' ? { context: part.context } : {}),
        ...placed,
      }
    case 'tool_result':
      return { ...readToolResult(part, place), ...placed }
    default:
      throw invalidRequest(`${place}.type: ${JSON.stringify(part.type ?? null)} is not supported`)
  }
}

/** Blank texts, which models write before tool calls, and which upstreams with blocks refuse. */
export function isBlank(text: string): boolean {
  return text.trim() === ''
}

type Unplaced<B extends ContentBlock> = Omit<B, keyof Placed>

function readImageUrl(value: JsonValue | undefined, field: string): Unplaced<MediaBlock> {
  const url = isJsonObject(value) ? value.url : value
  if (typeof url !== 'string') throw invalidRequest(`${field} must be a URL`)
  return imageOf(readDataUrl(url, field), field)
}

/** The data of a data URL, or of a `source` of the messages API. */
interface Data {
  readonly mediaType: string
  readonly data: string
}

function readSource(source: JsonValue | undefined, field: string): Data {
  if (!isJsonObject(source) || source.type !== 'base64') {
    throw invalidRequest(`${field}.type must be base64: remote files are not supported`)
  }
  const { media_type: mediaType, data } = source
  if (typeof mediaType !== 'string' || typeof data !== 'string') {
    throw invalidRequest(`${field} must have media_type and data`)
  }
  return { mediaType: mediaType.toLowerCase(), data: withoutSpace(data) }
}

/** Accepts `image/jpg` for JPEG, as OpenAI does. */
export function imageType(mediaType: string): string {
  return mediaType === 'image/jpg' ? 'image/jpeg' : mediaType
}

function imageOf({ mediaType: type, data }: Data, field: string): Unplaced<MediaBlock> {
  const mediaType = imageType(type)
  if (!IMAGE_TYPES.has(mediaType)) {
    throw invalidRequest(`${field}: images must be jpeg, png, webp or gif, not ${mediaType}`)
  }
  return { kind: 'image', mediaType, data, name: undefined }
}

/** A file of chat completions, of the responses API or of the messages API. */
function readFile(part: JsonObject, place: string): Unplaced<MediaBlock> {
  if (part.type === 'document') {
    // Leaves out the title, because guards do not read it.
    return { kind: 'document', ...readSource(part.source, `${place}.source`), name: undefined }
  }
  const [file, field] = part.type === 'file' ? [part.file, `${place}.file`] : [part, place]
  if (!isJsonObject(file) || typeof file.file_data !== 'string') {
    throw invalidRequest(`${field}.file_data must be a data URL`)
  }
  const name = typeof file.filename === 'string' ? file.filename : undefined
  return { kind: 'document', ...readDataUrl(file.file_data, `${field}.file_data`), name }
}

function readDataUrl(url: string, field: string): Data {
  const match = DATA_URL.exec(url)
  if (match === null) {
    throw invalidRequest(`${field} must be a base64 data URL: remote URLs are not supported`)
  }
  return {
    mediaType: (match[1] ?? '').toLowerCase(),
    data: withoutSpace(url.slice(match[0].length)),
  }
}

/** Some clients break base64 into lines, which the services refuse. */
function withoutSpace(data: string): string {
  return data.replace(/\s+/g, '')
}

function readToolResult(part: JsonObject, place: string): Unplaced<ToolResultBlock> {
  const { tool_use_id: toolCallId, content } = part
  if (typeof toolCallId !== 'string' || toolCallId === '') {
    throw invalidRequest(`${place}.tool_use_id must be a non-empty string`)
  }
  return {
    kind: 'tool_result',
    toolCallId,
    content: readToolContent(content, place),
    failed: part.is_error === true,
  }
}

/** The result of a tool; a string stays unchanged. */
export function readToolContent(
  content: JsonValue | undefined,
  place: string,
): string | readonly ContentBlock[] {
  return typeof content === 'string' ? content : readContent(content, place)
}
