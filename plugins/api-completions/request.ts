import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { SurfaceCall } from 'model-gateway/surface'
import { invalid, isPresent, readCommon } from 'model-gateway/wire'

/** A request as its caller sent it. */
export interface CompletionsRequest extends SurfaceCall {
  readonly value: JsonObject
}

/**
 * Checks what the gateway needs of a request. Throws GatewayError `invalid_request` with the field
 * name.
 */
export function readCompletions(value: JsonValue): CompletionsRequest {
  if (!isJsonObject(value)) throw invalid('the request body must be a JSON object')
  const call = readCommon(value)
  const { prompt } = value
  // Without a prompt the model starts a new document.
  if (isPresent(prompt) && typeof prompt !== 'string' && !isList(prompt)) {
    throw invalid('prompt must be a string, an array of strings, or token ids')
  }
  return { ...call, features: call.stream ? ['stream'] : [], exposedToolCount: undefined, value }
}

function isList(prompt: JsonValue | undefined): boolean {
  if (!Array.isArray(prompt)) return false
  const isToken = (each: JsonValue) => typeof each === 'number'
  const isPrompt = (each: JsonValue) =>
    typeof each === 'string' || (Array.isArray(each) && each.every(isToken))
  return prompt.every(isToken) || prompt.every(isPrompt)
}
