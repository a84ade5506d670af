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

/** The function in an entry of `tools`; undefined when it is a tool of another type. */
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

/** A tool of a kind that the upstream does not have: refused by name, or dropped by the route. */
export function leaveOutTool(index: number, { unsupported, dropped }: ParamPolicy): [] {
  if (unsupported !== 'drop') throw invalidRequest(`tools.${index}.type must be function`)
  dropped('tools')
  return []
}

/** Arguments are always an object, and these upstreams want to read that in the schema. */
function objectSchema(schema: JsonObject): JsonObject {
  return schema.type === undefined ? { type: 'object', ...schema } : schema
}

/** Models that Bedrock refuses `strict` for, but not their later minor versions; a date is none. */
const NO_STRICT = /claude-(?:opus-(?:4-[78]|5)|fable-5|sonnet-5)(?!-?\d{1,2}(?!\d))/i

/** Whether Bedrock takes tools that are `strict` for this model. */
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
 * `tool_choice`; undefined when it is absent. Throws GatewayError `invalid_request` for one that
 * asks for a tool where none is offered.
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

/** Whether a choice in the shape of the native messages API wants one call at a time. */
export function bansParallelCalls(choice: JsonValue | undefined): boolean {
  return isJsonObject(choice) && choice.disable_parallel_tool_use === true
}

/** In the shape of chat completions or of the native messages API. */
function parseChoice(value: JsonValue): ToolChoice | undefined {
  const word = isJsonObject(value) ? value.type : value
  if (word === 'auto' || word === 'none' || word === 'required') return { kind: word }
  if (word === 'any') return { kind: 'required' }
  if (!isJsonObject(value)) return undefined
  const name = isJsonObject(value.function) ? value.function.name : value.name
  const named = (word === 'function' || word === 'tool') && typeof name === 'string' && name !== ''
  return named ? { kind: 'function', name } : undefined
}
