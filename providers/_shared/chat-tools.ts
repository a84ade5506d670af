import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ParamPolicy } from 'model-gateway/wire'
import { invalidRequest } from './invalid-request.ts'

/** A tool that the caller runs. */
export interface FunctionTool {
  readonly name: string
  /** Never blank. */
  readonly description: string | undefined
  readonly parameters: JsonObject
  readonly strict: boolean | undefined
  readonly cacheControl: JsonValue | undefined
}

export type ToolChoice =
  | { readonly kind: 'auto' | 'none' | 'required' }
  | { readonly kind: 'function'; readonly name: string }

const EMPTY_SCHEMA: JsonObject = { type: 'object', properties: {} }

/** The function of a `tools` entry; undefined for another tool type. */
export function readFunctionTool(tool: JsonValue, field: string): FunctionTool | undefined {
  if (!isJsonObject(tool)) throw invalidRequest(`${field} must be an object`)
  if (tool.type !== 'function') return undefined
  const definition = isJsonObject(tool.function) ? tool.function : {}
  const { name, description, parameters, strict } = definition
  if (typeof name !== 'string' || name === '') {
    throw invalidRequest(`${field}.function.name must be a non-empty string`)
  }
  if (parameters !== undefined && parameters !== null && !isJsonObject(parameters)) {
    throw invalidRequest(`${field}.function.parameters must be a JSON schema`)
  }
  return {
    name,
    description:
      typeof description === 'string' && description.trim() !== '' ? description : undefined,
    parameters: parameters ? objectSchema(parameters) : EMPTY_SCHEMA,
    strict: typeof strict === 'boolean' ? strict : undefined,
    cacheControl: tool.cache_control ?? undefined,
  }
}

/** Refuses a tool type that the upstream does not support, or drops it if the route says so. */
export function leaveOutTool(index: number, { unsupported, dropped }: ParamPolicy): [] {
  if (unsupported !== 'drop') throw invalidRequest(`tools.${index}.type must be function`)
  dropped('tools')
  return []
}

/** These upstreams require that the schema says that arguments are an object. */
function objectSchema(schema: JsonObject): JsonObject {
  return schema.type === undefined ? { type: 'object', ...schema } : schema
}

/**
 * Models for which Bedrock refuses `strict`, excluding later minor versions; a date is not a
 * version.
 */
const NO_STRICT = /claude-(?:opus-(?:4-[78]|5)|fable-5|sonnet-5)(?!-?\d{1,2}(?!\d))/i

/** Whether Bedrock accepts `strict` tools for this model. */
export function bedrockTakesStrict(upstreamModel: string): boolean {
  return !NO_STRICT.test(upstreamModel)
}

/** The entries of `tools`; none when it is absent. */
export function readToolList(tools: JsonValue | undefined): readonly JsonValue[] {
  if (tools === undefined || tools === null) return []
  if (!Array.isArray(tools)) throw invalidRequest('tools must be a list')
  return tools
}

/**
 * `tool_choice`, or undefined. Throws GatewayError `invalid_request` if it requires a tool but none
 * is offered.
 */
export function readToolChoice(
  value: JsonValue | undefined,
  toolsOffered: boolean,
): ToolChoice | undefined {
  if (value === undefined || value === null) return undefined
  const choice = parseChoice(value)
  if (choice === undefined) {
    throw invalidRequest('tool_choice must be auto, none, required or a named function')
  }
  if (!toolsOffered && choice.kind !== 'none' && choice.kind !== 'auto') {
    throw invalidRequest('tool_choice asks for a tool, but tools holds no function')
  }
  return choice
}

/** Whether a choice in the messages API's format disables parallel calls. */
export function bansParallelCalls(choice: JsonValue | undefined): boolean {
  return isJsonObject(choice) && choice.disable_parallel_tool_use === true
}

/** In the format of chat completions or of the messages API. */
function parseChoice(value: JsonValue): ToolChoice | undefined {
  const word = isJsonObject(value) ? value.type : value
  if (word === 'auto' || word === 'none' || word === 'required') return { kind: word }
  if (word === 'any') return { kind: 'required' }
  if (!isJsonObject(value)) return undefined
  const name = isJsonObject(value.function) ? value.function.name : value.name
  const named = (word === 'function' || word === 'tool') && typeof name === 'string' && name !== ''
  return named ? { kind: 'function', name } : undefined
}
