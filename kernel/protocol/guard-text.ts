import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'

/** Members that hold what a model is told: tool results, earlier calls and what files are called, too. */
const PROMPT = new Set([
  ...['content', 'input', 'prompt', 'text', 'instructions', 'system', 'output'],
  ...['arguments', 'filename', 'context', 'stdout', 'stderr', 'logs'],
  ...['refusal', 'reasoning', 'reasoning_content'],
])
/** Members whose members have names of their caller's, and texts for values. */
const FREE = new Set(['variables'])
/** Members that hold a document; one of text is told to the model as it is. */
const DOCUMENTS = new Set(['file_data'])
const TEXT_DOCUMENT = /^(data:text\/[\w.+-]+)((?:;[^;,]*)*?);base64,([A-Za-z0-9+/=_-]*)$/i
const CHARSET = /;charset="?([\w:.-]+)"?(?=;|$)/i

/** Members that hold what a model said, its reasoning included, and what its upstream's tools did. */
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
  ...['output', 'stdout', 'stderr', 'logs'],
])

/** Texts of a body in their order, each at a place of its own. */
export interface GuardText {
  readonly segments: readonly string[]
  /** The body with other texts in the same places; what has none of them stays the same object. */
  replace(segments: readonly string[]): JsonObject
}

/** Everything in a request that a model reads as text. */
export function promptTexts(body: JsonObject): GuardText {
  return textUnder(body, PROMPT)
}

/** Everything in a buffered reply that a caller reads as text. */
export function replyTexts(body: JsonObject): GuardText {
  return textUnder(body, REPLY)
}

function textUnder(body: JsonObject, names: ReadonlySet<string>): GuardText {
  const segments: string[] = []
  mapTexts(body, names, false, (text) => {
    segments.push(text)
    return text
  })
  return {
    segments,
    replace(others) {
      let at = 0
      // A text may be longer than what stood there, never absent.
      return mapTexts(body, names, false, (text) => others[at++] ?? text) as JsonObject
    },
  }
}

/** Copies only what changes. Empty texts are no segments. */
function mapTexts(
  value: JsonValue,
  names: ReadonlySet<string>,
  isText: boolean,
  map: (text: string) => string,
  isFree = false,
): JsonValue {
  if (typeof value === 'string') return isText && value !== '' ? map(value) : value
  if (Array.isArray(value)) {
    const mapped = value.map((part) => mapTexts(part, names, isText, map))
    return mapped.every((part, index) => part === value[index]) ? value : mapped
  }
  if (!isJsonObject(value)) return value
  let copy: Record<string, JsonValue> | undefined
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    const mapped =
      names === PROMPT && DOCUMENTS.has(name)
        ? mapDocument(member, map)
        : mapTexts(
            member,
            names,
            names.has(name) || isFree,
            map,
            names === PROMPT && FREE.has(name),
          )
    if (mapped === member) continue
    copy ??= { ...value } as Record<string, JsonValue>
    copy[name] = mapped
  }
  if (copy === undefined) return value
  if (names === REPLY) silence(copy)
  return copy as JsonObject
}

/** Takes out what says the same as a text that was replaced: its tokens, and its sound. */
function silence(changed: Record<string, JsonValue>): void {
  const { logprobs, transcript, data } = changed
  if (logprobs !== undefined) changed.logprobs = Array.isArray(logprobs) ? [] : null
  if (typeof transcript === 'string' && typeof data === 'string') changed.data = ''
}

/** A document in a data URL, if it is one of text. */
function mapDocument(value: JsonValue, map: (text: string) => string): JsonValue {
  const [, type = '', parameters = '', data] =
    typeof value === 'string' ? (TEXT_DOCUMENT.exec(value) ?? []) : []
  if (data === undefined) return value
  const charset = CHARSET.exec(parameters)?.[1] ?? 'utf-8'
  const text = decoderOf(charset).decode(Buffer.from(data, 'base64'))
  const mapped = text === '' ? text : map(text)
  if (mapped === text) return value
  const head = type + parameters.replace(CHARSET, ';charset=utf-8')
  return `${head};base64,${Buffer.from(mapped).toString('base64')}`
}

/** A charset that nobody knows is read as the usual one. */
function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset as ConstructorParameters<typeof TextDecoder>[0], {
      ignoreBOM: true,
    })
  } catch {
    return new TextDecoder('utf-8', { ignoreBOM: true })
  }
}
