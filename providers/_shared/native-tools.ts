import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { bansParallelCalls } from './chat-tools.ts'
import type { OutboundBody } from './outbound-body.ts'

/**
 * Turns `tools` and `tool_choice` in the shape of the native messages API into function tools.
 * What has another shape stays, and a body without any stays as it is.
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

/** A function tool as the native messages API writes it. */
export function isNativeTool(tool: JsonValue): tool is NativeTool {
  return isJsonObject(tool) && typeof tool.name === 'string' && isJsonObject(tool.input_schema)
}

/** The same as chat completions write it. */
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

/** `undefined` for a choice that is not in the native shape. */
function functionChoice(choice: JsonObject): JsonValue | undefined {
  if (choice.type === 'auto' || choice.type === 'none') return choice.type
  if (choice.type === 'any') return 'required'
  if (choice.type === 'tool' && typeof choice.name === 'string') {
    return { type: 'function', function: { name: choice.name } }
  }
  return undefined
}
