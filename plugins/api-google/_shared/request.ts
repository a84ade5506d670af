import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { Feature } from 'model-gateway/provider'
import type { SurfaceCall } from 'model-gateway/surface'
import { invalid, readCommon } from 'model-gateway/wire'
import { objectIn, objectsIn, textIn } from './shape.ts'

/** The caller's request, with the model and streaming mode from its path. */
export interface GoogleRequest extends SurfaceCall {
  readonly value: JsonObject
}

/**
 * Reads what the gateway needs of a GenerateContentRequest; the upstream or the conversion
 * validates the rest. Throws GatewayError `invalid_request` with the field name.
 */
export function readGoogle(value: JsonValue): GoogleRequest {
  if (!isJsonObject(value)) throw invalid('the request body must be a JSON object')
  const call = readCommon(value)
  const { contents } = value
  if (!isJsonObject(contents) && (!Array.isArray(contents) || contents.length === 0)) {
    throw invalid('contents must be a non-empty array of {role, parts} objects')
  }
  const turns = objectsIn(value, 'contents')
  if (Array.isArray(contents) && turns.length < contents.length) {
    throw invalid(`contents.${contents.findIndex((each) => !isJsonObject(each))} must be an object`)
  }
  const tools = toolsIn(value)
  const features: Feature[] = []
  if (call.stream) features.push('stream')
  if (tools > 0) features.push('tools')
  if (turns.some(showsImage)) features.push('vision')
  if (responseSchema(value) !== undefined) features.push('json_schema')
  return { ...call, value, features, exposedToolCount: tools }
}

/** The JSON schema of the reply, and whether it is in JSON Schema format. */
export function responseSchema(request: JsonObject) {
  const config = objectIn(request, 'generationConfig') ?? {}
  const json = objectIn(config, 'responseJsonSchema') ?? objectIn(config, '_responseJsonSchema')
  const schema = json ?? objectIn(config, 'responseSchema')
  return schema && { schema, isJsonSchema: json !== undefined }
}

/** Functions, and hosted tools: `{googleSearch: {}}`. */
function toolsIn(request: JsonObject): number {
  return objectsIn(request, 'tools').reduce((count, tool) => {
    const functions = objectsIn(tool, 'functionDeclarations').length
    const hosted = Object.keys(tool).filter((name) => !/^function_?declarations$/i.test(name))
    return count + functions + hosted.length
  }, 0)
}

function showsImage(turn: JsonObject): boolean {
  return objectsIn(turn, 'parts').some((part) => {
    const media = objectIn(part, 'inlineData') ?? objectIn(part, 'fileData')
    return media !== undefined && textIn(media, 'mimeType')?.startsWith('image/') === true
  })
}

/** The target of a request path. */
export interface Target {
  /** A model, alias or tag selector. */
  readonly model: string
  readonly method: string
}

/**
 * Parses the rest of a path below `/v1beta/models/`, decoded; undefined without a method. Model ids
 * may contain slashes and colons.
 *
 * @example targetOf('openai/gpt-5:generateContent') // {model: 'openai/gpt-5', method: 'generateContent'}
 */
export function targetOf(path: string): Target | undefined {
  const at = path.lastIndexOf(':')
  return at > 0 ? { model: path.slice(0, at), method: path.slice(at + 1) } : undefined
}
