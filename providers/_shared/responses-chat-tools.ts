import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ParamPolicy } from 'model-gateway/wire'
import { leaveOutTool, readFunctionTool, readToolChoice, readToolList } from './chat-tools.ts'
import { invalidRequest } from './invalid-request.ts'
import type { ToolNames } from './tool-names.ts'

/** Members of a call that tools are built from. */
export const TOOL_PARAMS = ['tools', 'tool_choice', 'parallel_tool_calls']

/** Tools and tool choice for a chat call; nothing without tools. Throws `invalid_request`. */
export function responsesTools(
  params: JsonObject,
  names: ToolNames,
  policy: ParamPolicy,
): JsonObject {
  const tools = readToolList(params.tools).flatMap((tool, index) => {
    const field = `tools.${index}`
    return customTool(tool, field, names) ?? functionTool(tool, index, names, policy)
  })
  const choice = toolChoice(params.tool_choice, names, tools.length > 0)
  if (tools.length === 0) return {}
  return {
    tools,
    ...(choice !== undefined && { tool_choice: choice }),
    ...(params.parallel_tool_calls === false && { parallel_tool_calls: false }),
  }
}

/** This API is strict by default, unlike chat completions. */
function functionTool(
  tool: JsonValue,
  index: number,
  names: ToolNames,
  policy: ParamPolicy,
): readonly JsonObject[] {
  const definition = readFunctionTool(tool, `tools.${index}`)
  if (definition === undefined) return leaveOutTool(index, policy)
  const { name, description, parameters, strict = false, cacheControl } = definition
  if (cacheControl !== undefined) policy.dropped('tools[].cache_control')
  return [
    {
      type: 'function',
      name: names.sent(name),
      ...(description !== undefined && { description }),
      parameters,
      strict,
    },
  ]
}

/** A tool that takes free text, or text that a grammar describes. */
function customTool(tool: JsonValue, field: string, names: ToolNames): JsonObject[] | undefined {
  if (!isJsonObject(tool) || tool.type !== 'custom' || !isJsonObject(tool.custom)) return undefined
  const { name, description, format } = tool.custom
  if (typeof name !== 'string' || name === '') {
    throw invalidRequest(`${field}.custom.name must be a non-empty string`)
  }
  const grammar = isJsonObject(format) && isJsonObject(format.grammar) ? format.grammar : {}
  return [
    {
      type: 'custom',
      name: names.sent(name),
      ...(typeof description === 'string' && { description }),
      ...(isJsonObject(format) && { format: { type: format.type ?? 'text', ...grammar } }),
    },
  ]
}

function toolChoice(
  value: JsonValue | undefined,
  names: ToolNames,
  offered: boolean,
): JsonValue | undefined {
  if (isJsonObject(value) && value.type === 'custom') return named(value, names)
  if (isJsonObject(value) && value.type === 'allowed_tools') {
    const { mode, tools } = isJsonObject(value.allowed_tools) ? value.allowed_tools : value
    const allowed = readToolList(tools).filter(isJsonObject)
    return {
      type: 'allowed_tools',
      mode: mode ?? 'auto',
      tools: allowed.map((tool) => named(tool, names)),
    }
  }
  const choice = readToolChoice(value, offered)
  if (choice?.kind !== 'function') return choice?.kind
  return { type: 'function', name: names.sent(choice.name) }
}

/** A tool by type and name. */
function named(tool: JsonObject, names: ToolNames): JsonObject {
  const { type = 'function' } = tool
  const owner = [tool.function, tool.custom].find(isJsonObject) ?? tool
  return { type, name: names.sent(String(owner.name)) }
}
