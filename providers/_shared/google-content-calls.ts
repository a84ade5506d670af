import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { nestsTooDeep, parseExact } from 'model-gateway/wire'
import { chatParts, type PartReader } from './google-content-parts.ts'
import { signatureOf } from './google-content-signatures.ts'
import { invalidRequest } from './invalid-request.ts'
import type { ToolNames } from './tool-names.ts'

/** How the calls of a conversation are written for one model. */
export interface CallReader extends PartReader {
  /** Gemini 3 and later: checks signatures, and takes files inside of results. */
  readonly newer: boolean
  readonly names: ToolNames
}

export interface ToolMessage {
  readonly message: JsonObject
  readonly place: string
}

/** The function of a result whose call is no longer in the conversation. */
const UNKNOWN_TOOL = 'unknown_tool'

/** Files that a result may hold, of models that take any: the others come after it. */
const IN_RESULTS = /^(?:image\/(?:png|jpeg|webp)|application\/pdf|text\/plain)$/

/**
 * A call of the history; that of a tool which takes a text has it as `input`. Vertex AI refuses the
 * `id` that other services of Google have: results are told apart by their order (vercel/ai#15664).
 */
export function functionCall(call: JsonObject, place: string, { names }: CallReader) {
  const { type = null } = call
  if (type !== null && type !== 'function' && type !== 'custom') {
    throw invalidRequest(`${place}.type must be function`)
  }
  const definition = type === 'custom' ? call.custom : call.function
  const { name: asked, arguments: text, input } = isJsonObject(definition) ? definition : {}
  if (typeof asked !== 'string' || asked === '') {
    throw invalidRequest(`${place}.function.name must be a non-empty string`)
  }
  const name = names.sent(asked)
  const signature = signatureOf(call)
  const args =
    type === 'custom'
      ? { input: typeof input === 'string' ? input : '' }
      : readArguments(text, place)
  const part = {
    functionCall: { name, args },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  }
  return { name, part }
}

/** The call that a result without one must have had. */
export function lostCall(): { name: string; part: JsonObject } {
  return { name: UNKNOWN_TOOL, part: { functionCall: { name: UNKNOWN_TOOL, args: {} } } }
}

/** Arguments that are not an object are the model's own mistake, which it may learn from. */
function readArguments(text: JsonValue | undefined, place: string): JsonObject {
  if (text === undefined || text === null || text === '') return {}
  if (typeof text !== 'string') throw invalidRequest(`${place}.function.arguments must be a string`)
  return parseObject(text) ?? { _raw_arguments: text }
}

/**
 * The result of a call, and the files that come after it; of a call without one, that there is
 * none: the service counts them.
 */
export function functionResponse(
  name: string,
  result: ToolMessage | undefined,
  reader: CallReader,
): { readonly part: JsonObject; readonly beside: readonly JsonObject[] } {
  if (result === undefined) {
    const response = { error: 'no result: the conversation holds none for this call' }
    return { part: { functionResponse: { name, response } }, beside: [] }
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
      functionResponse: { name, response, ...(inside.length === 0 ? {} : { parts: inside }) },
    },
    beside: beside.length === 0 ? [] : [{ text: `${name}:` }, ...beside],
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

function parseObject(text: string): JsonObject | undefined {
  if (nestsTooDeep(text)) return undefined
  try {
    const value = parseExact(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
