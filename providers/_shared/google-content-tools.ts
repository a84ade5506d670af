import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { leaveOut, type ParamPolicy } from 'model-gateway/wire'
import {
  bansParallelCalls,
  readFunctionTool,
  readToolChoice,
  readToolList,
  type ToolChoice,
} from './chat-tools.ts'
import { googleSchema } from './google-content-schema.ts'
import { invalidRequest } from './invalid-request.ts'
import { functionTool, isNativeTool } from './native-tools.ts'
import type { ToolNames } from './tool-names.ts'

const modes = { auto: 'AUTO', none: 'NONE', required: 'ANY', function: 'ANY' } as const

/** Members of a call that tools are built from. */
export const TOOL_PARAMS = ['tools', 'tool_choice', 'parallel_tool_calls', 'web_search_options']

/** Hosted tools, by the prefix of their type in other APIs. */
const HOSTED: readonly (readonly [type: RegExp, member: string])[] = [
  [/^(?:web|google)_search/, 'googleSearch'],
  [/^code_(?:execution|interpreter)/, 'codeExecution'],
  [/^(?:url_context|web_fetch)/, 'urlContext'],
]

/** Hosted tools in the service's format, which are passed on. */
const OWN =
  /^(?:google_?search|google_?search_?retrieval|enterprise_?web_?search|google_?maps|retrieval|code_?execution|url_?context|computer_?use)$/i

/**
 * `tools` and `toolConfig` for a chat call's tools; absent if not needed. Throws GatewayError
 * `invalid_request`.
 */
export function googleTools(params: JsonObject, names: ToolNames, policy: ParamPolicy): JsonObject {
  const allowed = allowedTools(params.tool_choice)
  const hosted = params.web_search_options === undefined ? [] : [searchTool(params, policy)]
  /** By name, because the service refuses duplicates. */
  const declared = new Map<string, JsonObject>()
  for (const [index, tool] of readToolList(params.tools).entries()) {
    const field = `tools.${index}`
    const declaration = declarationOf(tool, field, policy)
    const own = declaration ?? hostedTool(tool)
    if (own === undefined) refuseTool(tool, field, policy)
    else if (declaration === undefined) hosted.push(own)
    else if (allowed === undefined || allowed.names.has(String(own.name))) {
      const name = names.sent(String(own.name))
      declared.set(name, declared.get(name) ?? { ...own, name })
    }
  }
  const functionDeclarations = [...declared.values()]
  const offered = functionDeclarations.length > 0
  if (offered) refuseSerialCalls(params, policy)
  const choice = readToolChoice(allowed?.mode ?? params.tool_choice, offered || hosted.length > 0)
  const functions = offered ? [{ functionDeclarations }] : []
  const tools = choice?.kind === 'none' ? [] : [...functions, ...hosted]
  return {
    ...(tools.length === 0 ? {} : { tools }),
    ...(choice === undefined || !offered ? {} : { toolConfig: toolConfig(choice, names) }),
  }
}

/** A choice of some tools: the others are not offered. */
function allowedTools(choice: JsonValue | undefined) {
  if (!isJsonObject(choice) || choice.type !== 'allowed_tools') return undefined
  const { mode, tools } = isJsonObject(choice.allowed_tools) ? choice.allowed_tools : choice
  const names = (Array.isArray(tools) ? tools : []).filter(isJsonObject).map((tool) => {
    return String(isJsonObject(tool.function) ? tool.function.name : tool.name)
  })
  return { mode: mode ?? 'auto', names: new Set(names) }
}

function declarationOf(
  tool: JsonValue,
  field: string,
  { dropped }: ParamPolicy,
): JsonObject | undefined {
  const declared = readFunctionTool(isNativeTool(tool) ? functionTool(tool) : tool, field)
  if (declared === undefined) return undefined
  const { name, description, parameters, cacheControl } = declared
  if (cacheControl !== undefined) dropped('tools[].cache_control')
  // A list of types becomes `object`, because arguments are always an object.
  const object = Array.isArray(parameters.type) ? { ...parameters, type: 'object' } : parameters
  return {
    name,
    ...(description === undefined ? {} : { description }),
    parametersJsonSchema: googleSchema(object),
  }
}

function hostedTool(tool: JsonValue): JsonObject | undefined {
  if (!isJsonObject(tool)) return undefined
  const { type } = tool
  if (typeof type === 'string') {
    const member = HOSTED.find(([begins]) => begins.test(type))?.[1]
    return member === undefined ? undefined : { [member]: {} }
  }
  const names = Object.keys(tool)
  return names.length > 0 && names.every((name) => OWN.test(name)) ? tool : undefined
}

function searchTool({ web_search_options: options }: JsonObject, policy: ParamPolicy): JsonObject {
  for (const [name, value] of Object.entries(isJsonObject(options) ? options : {})) {
    if (value !== undefined && value !== null) policy.dropped(`web_search_options.${name}`)
  }
  return { googleSearch: {} }
}

function refuseTool(tool: JsonValue, field: string, policy: ParamPolicy): void {
  if (policy.unsupported === 'drop') {
    leaveOut('tools', policy)
    return
  }
  const type = isJsonObject(tool) ? (tool.type ?? null) : null
  throw invalidRequest(`${field}.type: ${JSON.stringify(type)} is not supported by this model`)
}

/** The service cannot disable parallel calls. */
function refuseSerialCalls(params: JsonObject, policy: ParamPolicy): void {
  if (params.parallel_tool_calls === false || bansParallelCalls(params.tool_choice)) {
    leaveOut('parallel_tool_calls', policy)
  }
}

function toolConfig(choice: ToolChoice, names: ToolNames): JsonObject {
  return {
    functionCallingConfig: {
      mode: modes[choice.kind],
      ...(choice.kind === 'function' && { allowedFunctionNames: [names.sent(choice.name)] }),
    },
  }
}
