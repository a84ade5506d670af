import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import type { Feature } from '../plugin/route.ts'
import type { SurfaceCall } from '../plugin/surface.ts'
import { invalid } from './invalid.ts'

/** Types of image parts. */
const IMAGES: ReadonlySet<JsonValue | undefined> = new Set([
  'image_url',
  'input_image',
  'image',
  'computer_screenshot',
])

/** Maximum nesting of parts: message, tool result, image. */
const PART_DEPTH = 3

/**
 * Reads what the gateway needs from a chat request. Only those fields are checked; the upstream
 * checks the rest. `null` counts as absent. Throws GatewayError `invalid_request`, which names the
 * field.
 */
export function readChatRequest(value: JsonValue): SurfaceCall {
  const body = objectOf(value)
  const call = readCommon(body)
  const tools = readArray(body, 'tools')
  const vision = readMessages(body)
  const format = readObject(body, 'response_format')
  return { ...call, ...featuresOf(call.stream, tools, vision, format) }
}

/** The same for the responses API. */
export function readResponsesRequest(value: JsonValue): SurfaceCall {
  const body = objectOf(value)
  const call = readCommon(body)
  const tools = readArray(body, 'tools')
  const vision = readResponsesInput(body)
  const format = readObject(readObject(body, 'text') ?? {}, 'format', 'text.format')
  return { ...call, ...featuresOf(call.stream, tools, vision, format) }
}

/** The same for embeddings. */
export function readEmbeddingsRequest(value: JsonValue): SurfaceCall {
  const body = objectOf(value)
  const call = readCommon(body)
  if (call.stream) throw invalid('stream is not available for embeddings: leave it out')
  readEmbeddingsInput(body)
  return { ...call, features: [], exposedToolCount: undefined }
}

function objectOf(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) throw invalid('the request body must be a JSON object')
  return value
}

/** Fields of all requests. */
export function readCommon(body: JsonObject): Pick<SurfaceCall, 'model' | 'stream'> {
  const model = present(body.model)
  if (typeof model !== 'string' || model === '') {
    throw invalid('model must be a non-empty string: the id of a model from /v1/models')
  }
  return { model, stream: readBoolean(body, 'stream') }
}

function featuresOf(
  stream: boolean,
  tools: readonly JsonValue[],
  vision: boolean,
  format: JsonObject | undefined,
): Pick<SurfaceCall, 'features' | 'exposedToolCount'> {
  const needed: Feature[] = []
  if (stream) needed.push('stream')
  if (tools.length > 0) needed.push('tools')
  if (vision) needed.push('vision')
  if (format?.type === 'json_schema') needed.push('json_schema')
  return { features: needed, exposedToolCount: tools.length }
}

/** Checks `messages`; true when one of them shows an image. */
function readMessages(body: JsonObject): boolean {
  const messages = readArray(body, 'messages')
  if (messages.length === 0) {
    throw invalid('messages must be a non-empty array of {role, content} objects')
  }
  return readItems(messages, 'messages')
}

/** Checks `input` of responses; true when it shows an image. */
function readResponsesInput(body: JsonObject): boolean {
  const input = present(body.input)
  if (Array.isArray(input)) return readItems(input, 'input')
  if (typeof input === 'string') return false
  if (input !== undefined) throw invalid('input must be a string or an array of input items')
  // Input may be missing if a stored prompt or an earlier turn is given.
  const others = [body.prompt, body.previous_response_id, body.conversation]
  if (others.every((other) => present(other) === undefined)) {
    throw invalid('input is missing: give a string or an array of input items')
  }
  return false
}

function readEmbeddingsInput(body: JsonObject): void {
  const input = present(body.input)
  if (typeof input === 'string' || Array.isArray(input)) return
  throw invalid('input must be a string or an array')
}

function readItems(items: JsonValue[], name: string): boolean {
  for (const [i, item] of items.entries()) {
    if (!isJsonObject(item)) throw invalid(`${name}.${i} must be an object`)
  }
  return holdsImage(items, PART_DEPTH)
}

/** Searches parts, including those of messages and tool results. */
function holdsImage(parts: JsonValue | undefined, depth: number): boolean {
  if (isJsonObject(parts)) return IMAGES.has(parts.type)
  if (!Array.isArray(parts) || depth === 0) return false
  return parts.some(
    (part) =>
      isJsonObject(part) &&
      (IMAGES.has(part.type) ||
        holdsImage(part.content, depth - 1) ||
        holdsImage(part.output, depth - 1)),
  )
}

function readBoolean(body: JsonObject, name: string): boolean {
  const value = present(body[name]) ?? false
  if (typeof value !== 'boolean') throw invalid(`${name} must be true or false`)
  return value
}

function readArray(body: JsonObject, name: string): JsonValue[] {
  const value = present(body[name]) ?? []
  if (!Array.isArray(value)) throw invalid(`${name} must be an array`)
  return value
}

function readObject(body: JsonObject, name: string, shown = name): JsonObject | undefined {
  const value = present(body[name])
  if (value !== undefined && !isJsonObject(value)) throw invalid(`${shown} must be an object`)
  return value
}

function present(value: JsonValue | undefined): Exclude<JsonValue, null> | undefined {
  return value ?? undefined
}
