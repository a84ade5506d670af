import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { parseObject } from 'model-gateway/wire'
import { readToolCall } from './chat-calls.ts'
import { NO_RESULT, UNKNOWN_TOOL } from './chat-turns.ts'
import { chatParts, type PartReader } from './google-content-parts.ts'
import { signatureOf } from './google-content-signatures.ts'
import type { ToolNames } from './tool-names.ts'

/** How the calls of a conversation are written for one model. */
export interface CallReader extends PartReader {
  /** Gemini 3 and later: checks signatures, and takes files inside of results. */
  readonly newer: boolean
  /** The service knows calls by their ids. */
  readonly ids: boolean
  readonly names: ToolNames
}

export interface ToolMessage {
  readonly message: JsonObject
  readonly place: string
}

/** Files that a result may hold, of models that take any: the others come after it. */
const IN_RESULTS = /^(?:image\/(?:png|jpeg|webp)|application\/pdf|text\/plain)$/

/** A call of a history, as its result names it. */
export interface MadeCall {
  readonly name: string
  /** Absent where results belong to calls by their order. */
  readonly id?: string
}

/**
 * A call of the history. Vertex AI refuses the `id` that other services of Google have: results
 * belong to calls by their order (vercel/ai#15664).
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

/** The call that a result without one must have had. */
export function lostCall(): { made: MadeCall; part: JsonObject } {
  const made = { name: UNKNOWN_TOOL }
  return { made, part: { functionCall: { ...made, args: {} } } }
}

/**
 * The result of a call, and the files that come after it; of a call without one, that there is
 * none: the service counts them.
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
 * A JSON object as it is, anything else as a text under `output`: so too what the service would
 * take for something else (references, its own members) or could not keep (long integers).
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
