import type { JsonObject } from 'model-gateway/plugin'
import type { Turn } from '../_shared/chat-conversation.ts'
import {
  bansParallelCalls,
  bedrockTakesStrict,
  type FunctionTool,
  readFunctionTool,
  readToolChoice,
  readToolList,
  type ToolChoice,
} from '../_shared/chat-tools.ts'
import { invalidRequest } from '../_shared/invalid-request.ts'

/** `toolConfig` of Converse, or nothing. Throws GatewayError `invalid_request`. */
export function unifiedTools(
  chat: JsonObject,
  turns: readonly Turn[],
  upstreamModel: string,
): JsonObject {
  const takesStrict = bedrockTakesStrict(upstreamModel)
  const tools = readToolList(chat.tools).map((tool, index) => {
    const definition = readFunctionTool(tool, `tools.${index}`)
    if (definition === undefined) throw invalidRequest(`tools.${index}.type must be function`)
    return toolSpec(definition, takesStrict)
  })
  const choice = readToolChoice(chat.tool_choice, tools.length > 0)
  // A history with tool calls is refused without the tools, even if none may be called any more.
  const wanted = choice?.kind !== 'none' || turns.some(usesTools)
  if (tools.length === 0 || !wanted) return {}
  if (bansParallelCalls(chat.tool_choice)) {
    throw invalidRequest('tool_choice.disable_parallel_tool_use is not supported by this route')
  }
  const toolChoice = unifiedChoice(choice)
  return { toolConfig: { tools, ...(toolChoice === undefined ? {} : { toolChoice }) } }
}

function toolSpec(tool: FunctionTool, takesStrict: boolean): JsonObject {
  const { name, description, parameters, strict } = tool
  return {
    toolSpec: {
      name,
      ...(description === undefined ? {} : { description }),
      inputSchema: { json: parameters },
      ...(strict === undefined || !takesStrict ? {} : { strict }),
    },
  }
}

function unifiedChoice(choice: ToolChoice | undefined): JsonObject | undefined {
  switch (choice?.kind) {
    case 'auto':
      return { auto: {} }
    case 'required':
      return { any: {} }
    case 'function':
      return { tool: { name: choice.name } }
    default:
      return undefined
  }
}

/** Whether a `toolUse` of a reply is of a tool that the service runs itself. */
export function isServerTool({ type }: JsonObject): boolean {
  return type === 'server_tool_use'
}

function usesTools({ blocks }: Turn): boolean {
  return blocks.some(({ kind }) => kind === 'tool_use' || kind === 'tool_result')
}
