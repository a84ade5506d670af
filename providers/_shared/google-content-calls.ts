import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { parseObject } from 'model-gateway/wire'
import { readToolCall } from './chat-calls.ts'
import { NO_RESULT, UNKNOWN_TOOL } from './chat-turns.ts'
import { chatParts, type PartReader } from './google-content-parts.ts'
import { signatureOf } from './google-content-signatures.ts'
import type { ToolNames } from './tool-names.ts'

/** How the calls of a conversation are written for one model. */
export interface CallReader extends PartReader {
  /** Gemini 3 and later check signatures, and accept files in results. */
  readonly newer: boolean
  /** The service matches results to calls by id. */
  readonly ids: boolean
  readonly names: ToolNames
}

export interface ToolMessage {
  readonly message: JsonObject
  readonly place: string
}

/** File types allowed in a result; other files follow it. */
const IN_RESULTS = /^(?:image\/(?:png|jpeg|webp)|application\/pdf|text\/plain)$/

/** A call of the history, as its result refers to it. */
export interface MadeCall {
  readonly name: string
  /** Absent if results are matched by order. */
  readonly id?: string
}

/**
 * A call of the history. Vertex AI refuses `id`, which other Google services have, and matches
 * results by order (vercel/ai#15664).
 */
export function functionCall(call: JsonObject, place: string, { names, ids }: CallReader) {
  const { name: asked, input: args } = readToolCall(call, place)
  const name = names.sent(asked)
  const { id } = call
  const made: MadeCall = ids && typeof id === 'string' && id !== '' ? { name, id } : { name }
  const signature = signatureOf(call)
  const part = {
    functionCall: { ...made, args },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  }
  return { made, part }
}

/** The call for a result without one. */
export function lostCall(): { made: MadeCall; part: JsonObject } {
  const made = { name: UNKNOWN_TOOL }
  return { made, part: { functionCall: { ...made, args: {} } } }
}

/**
 * The result of a call, and the files that follow it. A missing result is replaced, because the
 * service counts them.
 */
export function functionResponse(
  made: MadeCall,
  result: ToolMessage | undefined,
  reader: CallReader,
): { readonly part: JsonObject; readonly beside: readonly JsonObject[] } {
  if (result === undefined) {
    const response = { error: NO_RESULT }
    return { part: { functionResponse: { ...made, response } }, beside: [] }
  }
  let text = ''
  const inside: JsonObject[] = []
  const beside: JsonObject[] = []
  for (const part of chatParts(result.message.content, result.place, reader)) {
    if (typeof part.text === 'string') text += part.text
    else if (reader.newer && IN_RESULTS.test(mimeTypeOf(part))) inside.push(part)
    else beside.push(part)
  }
  const response = readResult(text)
  return {
    part: {
      functionResponse: { ...made, response, ...(inside.length === 0 ? {} : { parts: inside }) },
    },
    beside: beside.length === 0 ? [] : [{ text: `${made.name}:` }, ...beside],
  }
}

function mimeTypeOf({ inlineData, fileData }: JsonObject): string {
  const file = isJsonObject(inlineData) ? inlineData : fileData
  return isJsonObject(file) ? String(file.mimeType) : ''
}

/**
 * A JSON object unchanged, otherwise a text under `output`. Objects that the service would misread
 * (references, its own members) or round (long integers) become text too.
 */
function readResult(text: string): JsonObject {
  const value = parseObject(text)
  if (value === undefined || isMisread(value)) return { output: text }
  const names = Object.keys(value)
  const own = names.includes('output') || names.includes('error')
  return own && names.length > 1 ? { output: text } : value
}

function isMisread(value: JsonValue | undefined): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (JSON.isRawJSON(value)) return true
  if (Array.isArray(value)) return value.some(isMisread)
  return Object.entries(value).some(([name, member]) => name.startsWith('$') || isMisread(member))
}
