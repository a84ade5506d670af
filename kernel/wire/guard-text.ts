import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import type { GuardTexts } from '../plugin/surface.ts'
import { plainJson } from './json-escapes.ts'
import { knownInOtherCase } from './key-case.ts'
import { toolInput } from './tool-input.ts'

/**
 * Members with input for the model: also tool results, earlier calls, reasons of approvals, and
 * file names.
 */
const PROMPT = new Set([
  ...['content', 'input', 'prompt', 'text', 'instructions', 'system', 'output'],
  ...['arguments', 'filename', 'context', 'stdout', 'stderr', 'logs', 'error'],
  ...['refusal', 'reasoning', 'reasoning_content', 'thinking'],
  ...['code', 'command', 'commands', 'diff', 'query', 'queries', 'reason'],
])
/** Blocks of the messages API whose title is input; elsewhere `title` is part of a schema. */
const TITLED: ReadonlySet<JsonValue | undefined> = new Set(['document', 'search_result'])
/** Members that map caller-defined names to texts. */
const FREE = new Set(['variables'])
/** Media types of documents that the model reads as text. */
const TEXT_TYPE =
  /^(?:text\/[\w.+-]+|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|toml|sql|javascript|typescript|x-sh))$/i
/** Tolerant, because some decoders skip characters that are not base64. */
const DATA_URL = /^data:([^;,]*)((?:;[^;,]*)*?);base64,/i
const CHARSET = /;charset="?([\w:.-]+)"?(?=;|$)/i

/** Members with output of the model, including reasoning and results of upstream tools. */
const REPLY = new Set([
  'content',
  'text',
  'refusal',
  'reasoning',
  'reasoning_content',
  'reasoning_text',
  'thinking',
  'transcript',
  'output_text',
  ...['output', 'stdout', 'stderr', 'logs', 'error'],
])

/** The part type of `reasoning_details` whose `summary` is text; elsewhere it is a setting. */
const SUMMARY = 'reasoning.summary'

/** All text in a request that the model reads. */
export function promptTexts(body: JsonObject): GuardTexts {
  return textUnder(body, PROMPT)
}

/** All text in a buffered reply that the caller reads. */
export function replyTexts(body: JsonObject): GuardTexts {
  return textUnder(body, REPLY)
}

function textUnder(body: JsonObject, names: ReadonlySet<string>): GuardTexts {
  const segments: string[] = []
  mapTexts(body, names, false, (text) => {
    segments.push(text)
    return text
  })
  return {
    segments,
    replace(others) {
      let at = 0
      // A new text may be longer, but not missing.
      return mapTexts(body, names, false, (text) => others[at++] ?? text) as JsonObject
    },
  }
}

/** Copies only changed parts. Empty texts are not segments. */
function mapTexts(
  value: JsonValue,
  names: ReadonlySet<string>,
  isText: boolean,
  map: (text: string) => string,
  isFree = false,
  owner?: JsonObject,
): JsonValue {
  if (typeof value === 'string') {
    if (isText) return value === '' ? value : map(value)
    const mayBeDocument = names === PROMPT && value[4] === ':'
    return mayBeDocument ? mapDocument(value, mediaTypeOf(owner), map) : value
  }
  if (Array.isArray(value)) {
    const mapped = value.map((part) => mapTexts(part, names, isText, map))
    return mapped.every((part, index) => part === value[index]) ? value : mapped
  }
  if (!isJsonObject(value)) return value
  const hasData = names === PROMPT && typeof value.data === 'string'
  const mediaType = hasData ? (mediaTypeOf(value) ?? mediaTypeOf(owner)) : undefined
  let copy: Record<string, JsonValue> | undefined
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    let mapped: JsonValue
    if (name === 'arguments' && names === PROMPT && isWritten(member, value)) {
      mapped = mapArguments(member, map)
    } else if (name === 'input' && names === PROMPT && isToolUse(value)) {
      const written = JSON.stringify(member)
      const judged = map(written)
      mapped = judged === written ? member : toolInput(judged)
    } else if (name === 'data' && mediaType !== undefined && typeof member === 'string') {
      mapped =
        value.type === 'text' ? mapTexts(member, names, true, map) : mapData(member, mediaType, map)
    } else {
      const isSummary = name === 'summary' && value.type === SUMMARY
      const isText =
        names.has(name) ||
        knownInOtherCase(name, names) !== undefined ||
        isFree ||
        isSummary ||
        (name === 'title' && names === PROMPT && TITLED.has(value.type))
      mapped = mapTexts(member, names, isText, map, names === PROMPT && FREE.has(name), value)
    }
    if (mapped === member) continue
    copy ??= { ...value } as Record<string, JsonValue>
    copy[name] = mapped
  }
  if (copy === undefined) return value
  if (names === REPLY) silence(copy)
  return copy as JsonObject
}

/** Removes copies of a replaced text: its tokens and its sound. */
function silence(changed: Record<string, JsonValue>): void {
  const { logprobs, transcript, data } = changed
  if (logprobs !== undefined) changed.logprobs = Array.isArray(logprobs) ? [] : null
  if (typeof transcript === 'string' && typeof data === 'string') changed.data = ''
}

/** An earlier tool call in the messages API. */
function isToolUse({ type, input }: JsonObject): boolean {
  return isJsonObject(input) && typeof type === 'string' && type.endsWith('tool_use')
}

/** Whether these are arguments: a text, or JSON next to the name of the tool. */
function isWritten(member: JsonValue, { name }: JsonObject): boolean {
  if (typeof member === 'string') return true
  return typeof member === 'object' && member !== null && typeof name === 'string'
}

/** The arguments of an earlier call; as text if one of their texts was replaced. */
function mapArguments(written: JsonValue, map: (text: string) => string): JsonValue {
  const plain = typeof written === 'string' ? plainJson(written) : JSON.stringify(written)
  const mapped = plain === '' ? plain : map(plain)
  return mapped === plain ? written : mapped
}

/** A text document in a data URL; a URL without a type is text. */
function mapDocument(
  url: string,
  mediaType: string | undefined,
  map: (text: string) => string,
): string {
  const [head, type = '', parameters = ''] = DATA_URL.exec(url) ?? []
  if (head === undefined || !TEXT_TYPE.test(type || (mediaType ?? 'text/plain'))) return url
  const charset = CHARSET.exec(parameters)?.[1] ?? 'utf-8'
  const data = url.slice(head.length)
  const mapped = mapBase64(data, charset, map)
  if (mapped === data) return url
  return `data:${type}${parameters.replace(CHARSET, ';charset=utf-8')};base64,${mapped}`
}

/** The data of a document with a separate media type. */
function mapData(data: string, mediaType: string, map: (text: string) => string): string {
  return TEXT_TYPE.test(mediaType) ? mapBase64(data, 'utf-8', map) : data
}

function mediaTypeOf(owner: JsonObject | undefined): string | undefined {
  const stated = owner?.media_type ?? owner?.mime_type ?? owner?.mediaType
  return typeof stated === 'string' ? stated : undefined
}

/** Returns the same text if nothing changed, whatever its bytes. */
function mapBase64(data: string, charset: string, map: (text: string) => string): string {
  const text = decoderOf(charset).decode(Buffer.from(data, 'base64'))
  const mapped = text === '' ? text : map(text)
  return mapped === text ? data : Buffer.from(mapped).toString('base64')
}

/** An unknown charset is read as UTF-8. */
function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset as ConstructorParameters<typeof TextDecoder>[0], {
      ignoreBOM: true,
    })
  } catch {
    return new TextDecoder('utf-8', { ignoreBOM: true })
  }
}
