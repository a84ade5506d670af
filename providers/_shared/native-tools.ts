import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { bansParallelCalls } from './chat-tools.ts'
import type { OutboundBody } from './outbound-body.ts'

/**
 * Converts `tools` and `tool_choice` from the messages API's format to function tools. Entries in
 * other formats, and a body without any, are unchanged.
 */
export function normaliseTools(body: OutboundBody): void {
  const tools = body.get('tools')
  if (Array.isArray(tools) && tools.some(isNativeTool)) {
    body.set(
      'tools',
      tools.map((tool) => (isNativeTool(tool) ? functionTool(tool) : tool)),
    )
  }
  const choice = body.get('tool_choice')
  if (!isJsonObject(choice)) return
  const converted = functionChoice(choice)
  if (converted === undefined) return
  body.set('tool_choice', converted)
  if (bansParallelCalls(choice)) body.set('parallel_tool_calls', false)
}

interface NativeTool extends JsonObject {
  name: string
  input_schema: JsonObject
}

/** A function tool in the messages API's format. */
export function isNativeTool(tool: JsonValue): tool is NativeTool {
  return isJsonObject(tool) && typeof tool.name === 'string' && isJsonObject(tool.input_schema)
}

/** The same in the format of chat completions. */
export function functionTool({ name, description, input_schema, strict }: NativeTool): JsonObject {
  return {
    type: 'function',
    function: {
      name,
      ...(typeof description === 'string' ? { description } : {}),
      parameters: input_schema,
      ...(typeof strict === 'boolean' ? { strict } : {}),
    },
  }
}

/** `undefined` if the choice is not in the messages API's format. */
function functionChoice(choice: JsonObject): JsonValue | undefined {
  if (choice.type === 'auto' || choice.type === 'none') return choice.type
  if (choice.type === 'any') return 'required'
  if (choice.type === 'tool' && typeof choice.name === 'string') {
    return { type: 'function', function: { name: choice.name } }
  }
  return undefined
}
