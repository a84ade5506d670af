import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { invalid, isPresent, leaveOut } from 'model-gateway/wire'
import { stringIn } from './blocks.ts'
import { markOf, nativeOnly, type Target } from './target.ts'

/** Members of a tool that its function has too. */
const SAID: ReadonlySet<string> = new Set([
  ...['type', 'name', 'description', 'strict', 'input_schema', 'cache_control'],
])

/** `tools` and `tool_choice` of a chat call. Throws GatewayError `invalid_request`. */
export function chatTools(request: JsonObject, target: Target): JsonObject {
  const tools = readTools(request.tools, target)
  const choice = request.tool_choice
  if (isPresent(choice) && !isJsonObject(choice)) throw invalid('tool_choice must be an object')
  const isSerial = isJsonObject(choice) && choice.disable_parallel_tool_use === true
  return {
    ...(tools.length > 0 && { tools }),
    ...(isJsonObject(choice) && { tool_choice: chatToolChoice(choice) }),
    ...(isSerial && tools.length > 0 && { parallel_tool_calls: false }),
  }
}

function readTools(list: JsonValue | undefined, target: Target): JsonObject[] {
  if (!isPresent(list)) return []
  if (!Array.isArray(list)) throw invalid('tools must be an array')
  return list.flatMap((tool, i) => {
    const place = `tools.${i}`
    if (!isJsonObject(tool)) throw invalid(`${place} must be an object`)
    if ((tool.type ?? 'custom') === 'custom') return [functionTool(tool, place, target)]
    const type = stringIn(tool, 'type', place).slice(0, 64)
    if (target.unsupported !== 'drop') throw nativeOnly('tools', `a tool of type '${type}'`)
    leaveOut('tools', target)
    return []
  })
}

function functionTool(tool: JsonObject, place: string, target: Target): JsonObject {
  const { description, strict, input_schema: parameters } = tool
  if (!isJsonObject(parameters)) throw invalid(`${place}.input_schema must be an object`)
  for (const name of Object.keys(tool)) if (!SAID.has(name)) leaveOut(`tools[].${name}`, target)
  return {
    type: 'function',
    function: {
      name: stringIn(tool, 'name', place),
      ...(typeof description === 'string' ? { description } : {}),
      parameters,
      ...(typeof strict === 'boolean' ? { strict } : {}),
    },
    ...markOf(tool, target),
  }
}

function chatToolChoice(choice: JsonObject): JsonValue {
  switch (choice.type) {
    case 'auto':
    case 'none':
      return choice.type
    case 'any':
      return 'required'
    case 'tool':
      return { type: 'function', function: { name: stringIn(choice, 'name', 'tool_choice') } }
    default:
      throw invalid("tool_choice.type must be 'auto', 'any', 'tool' or 'none'")
  }
}
