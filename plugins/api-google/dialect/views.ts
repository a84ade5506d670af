import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { GuardTexts, GuardToolCalls } from 'model-gateway/surface'
import { parseObject, toolInput } from 'model-gateway/wire'
import { objectsIn, spelledCamel } from '../_shared/shape.ts'
import { callsOf } from './reply.ts'

type Rewrite = (text: string) => string
type GuardedToolCall = GuardToolCalls['calls'][number]

/** Media types of inline data that the model reads as text. */
const TEXT_TYPE =
  /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|toml|sql|javascript|typescript)\b)/i

/** All texts that a model reads in a request: turns, instructions, calls and results, documents. */
export function promptTexts(request: JsonObject): GuardTexts {
  return textsOf(request, promptText)
}

/** All texts that a caller reads in a reply: text, thoughts, executed code, and citations. */
export function replyTexts(reply: JsonObject): GuardTexts {
  return textsOf(reply, replyText)
}

/** Function calls of a reply. */
export function madeCalls(reply: JsonObject): GuardToolCalls {
  const calls: GuardedToolCall[] = []
  mapCalls(reply, (call) => {
    calls.push(call)
    return call.arguments
  })
  return {
    calls,
    replace(others) {
      let at = 0
      return mapCalls(reply, (call) => others[at++]?.arguments ?? call.arguments)
    },
  }
}

/** Function calls of earlier turns in a request, in order. */
export function earlierCalls(request: JsonObject): readonly GuardedToolCall[] {
  return objectsIn(request, 'contents').flatMap(callsOf).map(callOf)
}

/** How a text member is handled; `undefined` to look inside the member. */
type Visit = (
  name: string,
  value: JsonValue,
  owner: JsonObject,
  map: Rewrite,
) => JsonValue | undefined

const promptText: Visit = (name, value, owner, map) => {
  switch (name) {
    case 'text':
    case 'code':
    case 'output':
      return typeof value === 'string' ? mapText(value, map) : undefined
    case 'systemInstruction':
      return typeof value === 'string' ? mapText(value, map) : undefined
    case 'args':
      return isJsonObject(value) ? mapJson(value, map, toolInput) : undefined
    case 'response':
      return isJsonObject(value) && typeof owner.name === 'string'
        ? mapJson(value, map, (text) => parseObject(text) ?? { output: text })
        : undefined
    case 'data':
      return typeof value === 'string' ? mapDocument(value, owner, map) : undefined
    // Declarations are schemas of functions, and the model does not read settings.
    case 'tools':
    case 'toolConfig':
    case 'generationConfig':
      return value
    default:
      return undefined
  }
}

const replyText: Visit = (name, value, _, map) => {
  switch (name) {
    case 'text':
    case 'code':
    case 'output':
      return typeof value === 'string' ? mapText(value, map) : undefined
    case 'functionCall':
      return value
    default:
      return undefined
  }
}

function textsOf(body: JsonObject, visit: Visit): GuardTexts {
  const segments: string[] = []
  mapMembers(body, visit, (text) => {
    segments.push(text)
    return text
  })
  return {
    segments,
    replace(others) {
      let at = 0
      const changed = mapMembers(body, visit, (text) => others[at++] ?? text) as JsonObject
      return visit === replyText && changed !== body ? withoutTokens(changed) : changed
    },
  }
}

/** Copies only changed values. */
function mapMembers(value: JsonValue, visit: Visit, map: Rewrite): JsonValue {
  if (Array.isArray(value)) {
    const mapped = value.map((each) => mapMembers(each, visit, map))
    return mapped.every((each, i) => each === value[i]) ? value : mapped
  }
  if (!isJsonObject(value)) return value
  let copy: Record<string, JsonValue> | undefined
  for (const [name, own] of Object.entries(value)) {
    if (own === undefined || own === null) continue
    const mapped = visit(spelledCamel(name), own, value, map) ?? mapMembers(own, visit, map)
    if (mapped === own) continue
    copy ??= { ...value } as Record<string, JsonValue>
    copy[name] = mapped
  }
  return copy ?? value
}

/** An empty text is not a segment. */
function mapText(text: string, map: Rewrite): string {
  return text === '' ? text : map(text)
}

function mapJson(value: JsonObject, map: Rewrite, read: (text: string) => JsonObject): JsonObject {
  const written = JSON.stringify(value)
  const mapped = map(written)
  return mapped === written ? value : read(mapped)
}

function mapDocument(data: string, owner: JsonObject, map: Rewrite): string {
  const type = owner.mimeType ?? owner.mime_type
  if (typeof type !== 'string' || !TEXT_TYPE.test(type)) return data
  const text = Buffer.from(data, 'base64').toString()
  const mapped = mapText(text, map)
  return mapped === text ? data : Buffer.from(mapped).toString('base64')
}

/** Tokens repeat the text that was replaced. */
function withoutTokens(reply: JsonObject): JsonObject {
  const candidates = objectsIn(reply, 'candidates').map(({ logprobsResult: _, ...rest }) => rest)
  return { ...reply, candidates }
}

function mapCalls(reply: JsonObject, rewrite: (call: GuardedToolCall) => string): JsonObject {
  const visit: Visit = (name, value) => {
    if (name !== 'functionCall' || !isJsonObject(value)) return undefined
    const call = callOf(value)
    const written = rewrite(call)
    return written === call.arguments ? value : { ...value, args: toolInput(written) }
  }
  return mapMembers(reply, visit, (text) => text) as JsonObject
}

function callOf({ name, args }: JsonObject): GuardedToolCall {
  return { tool: typeof name === 'string' ? name : '', arguments: JSON.stringify(args ?? {}) }
}
