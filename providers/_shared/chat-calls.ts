import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { toolInput } from 'model-gateway/wire'
import { invalidRequest } from './invalid-request.ts'

/** The tool calls of an assistant message; `place` is the message's path. */
export function toolCallsOf(
  { tool_calls: calls }: JsonObject,
  place: string,
): readonly JsonObject[] {
  if (calls === undefined || calls === null) return []
  if (!Array.isArray(calls)) throw invalidRequest(`${place}.tool_calls must be a list`)
  const odd = calls.findIndex((call) => !isJsonObject(call))
  if (odd !== -1) throw invalidRequest(`${place}.tool_calls.${odd} must be an object`)
  return calls as JsonObject[]
}

/** The arguments of a call; a custom tool's text becomes `input`. */
export function readToolCall(
  call: JsonObject,
  place: string,
): { readonly name: string; readonly input: JsonObject } {
  const { type = null } = call
  if (type !== null && type !== 'function' && type !== 'custom') {
    throw invalidRequest(`${place}.type must be function`)
  }
  const definition = type === 'custom' ? call.custom : call.function
  const { name, arguments: stated, input } = isJsonObject(definition) ? definition : {}
  if (typeof name !== 'string' || name === '') {
    throw invalidRequest(`${place}.function.name must be a non-empty string`)
  }
  if (type !== 'custom') return { name, input: toolInput(stated) }
  return { name, input: { input: typeof input === 'string' ? input : '' } }
}

/** The id of the call that a `tool` message answers. */
export function answeredCall({ tool_call_id: id }: JsonObject, place: string): string {
  if (typeof id === 'string' && id !== '') return id
  throw invalidRequest(`${place}.tool_call_id must be a non-empty string`)
}

/** The error for an unknown message role. */
export function unknownRole({ role }: JsonObject, place: string) {
  const stated: JsonValue = role ?? null
  return invalidRequest(`${place}.role: ${JSON.stringify(stated)} is not supported`)
}

/** Whether a message has the role of a participant. */
export function isNamed({ name }: JsonObject): boolean {
  return typeof name === 'string' && name !== ''
}
