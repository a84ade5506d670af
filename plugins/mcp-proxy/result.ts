import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'

/** Members of content blocks that are not text: kinds and binary data. */
const kinds = /^(?:text|image|audio|resource|resource_link|object|user|assistant)$/
const mimeType = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/

const base64 = /^[\w+/=\r\n-]*$/

function isSilent(text: string, key: string, owner: JsonObject | undefined): boolean {
  switch (key) {
    case 'type':
    case 'role':
      return kinds.test(text)
    case 'mimeType':
      return mimeType.test(text)
    case 'data':
      return (owner?.type === 'image' || owner?.type === 'audio') && base64.test(text)
    case 'blob':
      return typeof owner?.uri === 'string' && base64.test(text)
    default:
      return text === ''
  }
}
/** Members of the protocol itself; their names are not judged. */
const usualNames: ReadonlySet<string> = new Set([
  ...['content', 'structuredContent', 'isError', '_meta', 'code', 'message', 'data'],
  ...['type', 'text', 'mimeType', 'resource', 'uri', 'blob', 'name', 'title', 'description'],
  ...['size', 'annotations', 'audience', 'priority', 'lastModified', 'role'],
])
/** Numbers that are the protocol's. */
const usualNumbers: ReadonlySet<string> = new Set(['code', 'size', 'priority'])

/** Members that are judged one by one; other texts are judged together. */
const spoken: ReadonlySet<string> = new Set(['text', 'message'])

type Visit = (text: string, key: string) => string

/** The texts of responses for a guard. */
export interface ResponseTexts {
  /** Each text of a content block, then all other texts as one JSON array. */
  readonly segments: readonly string[]
  /** The responses with new texts; undefined if these do not fit in the same places. */
  replace(segments: readonly string[]): readonly JsonObject[] | undefined
}

/**
 * Collects all content in the `result` or `error` of responses and the `params` of notifications:
 * texts, numbers, and member names that the server chose. Skips binary data.
 */
export function responseTexts(responses: readonly JsonObject[]): ResponseTexts {
  const texts: string[] = []
  const others: string[] = []
  mapResponses(responses, (text, key) => {
    ;(spoken.has(key) ? texts : others).push(text)
    return text
  })
  return {
    segments: others.length === 0 ? texts : [...texts, JSON.stringify(others)],
    replace(segments) {
      const newOthers = others.length === 0 ? [] : readTexts(segments.at(-1), others.length)
      if (newOthers === undefined) return undefined
      let text = 0
      let other = 0
      return mapResponses(responses, (old, key) => {
        return (spoken.has(key) ? segments[text++] : newOthers[other++]) ?? old
      })
    },
  }
}

function readTexts(segment: string | undefined, length: number): string[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(segment ?? '')
  } catch {
    return undefined
  }
  if (!Array.isArray(value) || value.length !== length) return undefined
  return value.every((text) => typeof text === 'string') ? value : undefined
}

function mapResponses(responses: readonly JsonObject[], visit: Visit): readonly JsonObject[] {
  return responses.map((response) => {
    const copy = { ...response }
    for (const member of ['result', 'error', 'params']) {
      const value = response[member]
      if (value !== undefined) copy[member] = mapTexts(value, member, visit)
    }
    return copy
  })
}

/** Whether the server defines the content of a member, not the protocol. */
function isOwn(name: string, value: JsonValue): boolean {
  return name === 'structuredContent' || (name === 'data' && typeof value === 'object')
}

function mapTexts(
  value: JsonValue,
  key: string,
  visit: Visit,
  owner?: JsonObject,
  own = false,
): JsonValue {
  if (typeof value === 'string') {
    const silent = own ? value === '' : isSilent(value, key, owner)
    return silent ? value : visit(value, key)
  }
  if (typeof value === 'number' && (own || !usualNumbers.has(key))) {
    const digits = String(value)
    const judged = visit(digits, key)
    return judged === digits ? value : judged
  }
  if (JSON.isRawJSON(value)) {
    const judged = visit(value.rawJSON, key)
    return judged === value.rawJSON ? (value as JsonValue) : judged
  }
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, key, visit, undefined, own))
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).map(([name, member]) => [
    usualNames.has(name) || name === '' ? name : visit(name, ''),
    member === undefined
      ? undefined
      : mapTexts(member, name, visit, value, own || isOwn(name, member)),
  ])
  return Object.fromEntries(entries) as JsonObject
}
