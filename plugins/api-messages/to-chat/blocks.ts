import type { GatewayError } from 'model-gateway/plugin'
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { invalid } from 'model-gateway/wire'

/** One content block of a messages request, with its path. */
export interface Block {
  readonly type: string
  readonly value: JsonObject
  /** `messages.0.content.2` */
  readonly place: string
}

/** The blocks of a content; a string is one text block. Throws `invalid_request`. */
export function readBlocks(content: JsonValue | undefined, place: string): Block[] {
  if (typeof content === 'string') {
    return content === '' ? [] : [{ type: 'text', value: { type: 'text', text: content }, place }]
  }
  if (!Array.isArray(content)) throw invalid(`${place} must be a string or an array of blocks`)
  return content.map((value, i) => {
    const where = `${place}.${i}`
    if (!isJsonObject(value)) throw invalid(`${where} must be an object`)
    return { type: stringIn(value, 'type', where), value, place: where }
  })
}

export function textOfBlock({ value, place }: Block): string {
  if (typeof value.text !== 'string') throw invalid(`${place}.text must be a string`)
  return value.text
}

/** Converts an image or document to a chat message part. */
export function mediaPart({ type, value, place }: Block): JsonObject {
  const at = `${place}.source`
  const { source } = value
  if (!isJsonObject(source)) throw invalid(`${at} must be an object`)
  if (type === 'image') return { type: 'image_url', image_url: { url: urlOf(source, at) } }
  const { title } = value
  const file: JsonObject = {
    filename: typeof title === 'string' && title !== '' ? title : 'document',
    ...(source.type === 'url'
      ? { file_url: urlOf(source, at) }
      : { file_data: source.type === 'text' ? textUrl(source, at) : urlOf(source, at) }),
  }
  return { type: 'file', file }
}

function urlOf(source: JsonObject, at: string): string {
  if (source.type === 'url') return stringIn(source, 'url', at)
  if (source.type === 'base64') {
    return `data:${stringIn(source, 'media_type', at)};base64,${stringIn(source, 'data', at)}`
  }
  throw invalid(`${at}.type: must be base64 or url`)
}

function textUrl(source: JsonObject, at: string): string {
  const text = Buffer.from(stringIn(source, 'data', at)).toString('base64')
  return `data:text/plain;base64,${text}`
}

/** A member that must be a non-empty string. Throws `invalid_request` with its name. */
export function stringIn(owner: JsonObject, name: string, place: string): string {
  const value = owner[name]
  if (typeof value === 'string' && value !== '') return value
  throw invalid(`${place}.${name} must be a non-empty string`)
}

export function unknownBlock({ type, place }: Block): GatewayError {
  return invalid(`${place}: blocks of type '${type.slice(0, 64)}' are not supported here`)
}
