import type { JsonObject } from 'model-gateway/plugin'
import { leaveOut, type ParamPolicy } from 'model-gateway/wire'
import type { Turn } from '../_shared/chat-conversation.ts'
import {
  bansParallelCalls,
  bedrockTakesStrict,
  type FunctionTool,
  leaveOutTool,
  readFunctionTool,
  readToolChoice,
  readToolList,
  type ToolChoice,
} from '../_shared/chat-tools.ts'
import { messagesToolChoice } from '../_shared/messages-tools.ts'
import type { ToolNames } from '../_shared/tool-names.ts'
import type { CachePoints } from './unified-cache.ts'
import { inputSchema } from './unified-schema.ts'

/** Data that a call's tools depend on, in addition to the call itself. */
export interface ToolContext {
  readonly turns: readonly Turn[]
  readonly names: ToolNames
  readonly upstreamModel: string
  readonly claude: boolean
  readonly points: CachePoints
  readonly policy: ParamPolicy
}

/** `toolConfig` of Converse, or nothing. Throws GatewayError `invalid_request`. */
export function unifiedTools(
  chat: JsonObject,
  { turns, names, upstreamModel, claude, points, policy }: ToolContext,
): JsonObject {
  const takesStrict = bedrockTakesStrict(upstreamModel)
  const offered = readToolList(chat.tools).flatMap((tool, index) => {
    const definition = readFunctionTool(tool, `tools.${index}`)
    if (definition === undefined) return leaveOutTool(index, policy)
    const parameters = inputSchema(definition.parameters, upstreamModel)
    const spec = toolSpec({ ...definition, parameters }, names, takesStrict)
    return [spec, ...points('tools', definition.cacheControl)]
  })
  const choice = readToolChoice(chat.tool_choice, offered.length > 0)
  const called = toolsOfHistory(turns)
  // The service refuses a history with tool calls but without tools, even if none may be called.
  if (called.length > 0 && offered.length === 0) return { toolConfig: { tools: called } }
  if (offered.length === 0 || (choice?.kind === 'none' && called.length === 0)) return {}
  const tools = { toolConfig: { tools: offered } }
  if (chat.parallel_tool_calls === false || bansParallelCalls(chat.tool_choice)) {
    const serial = messagesToolChoice(choice, true, names)
    // Only one choice is sent, because the service refuses two. (BerriAI/litellm#36536)
    if (claude) return { ...tools, additionalModelRequestFields: { tool_choice: serial } }
    leaveOut('parallel_tool_calls', policy)
  }
  const toolChoice = unifiedChoice(choice, names)
  return toolChoice === undefined ? tools : { toolConfig: { ...tools.toolConfig, toolChoice } }
}

/** The tools that were called, with any arguments allowed, because their schemas are unknown. */
function toolsOfHistory(turns: readonly Turn[]): JsonObject[] {
  const blocks = turns.flatMap((turn) => turn.blocks)
  const called = blocks.flatMap((block) => (block.kind === 'tool_use' ? [block.name] : []))
  return [...new Set(called)].map((name) => ({
    toolSpec: { name, inputSchema: { json: { type: 'object' } } },
  }))
}

function toolSpec(tool: FunctionTool, names: ToolNames, takesStrict: boolean): JsonObject {
  const { name, description, parameters, strict } = tool
  return {
    toolSpec: {
      name: names.sent(name),
      ...(description === undefined ? {} : { description }),
      inputSchema: { json: parameters },
      ...(strict === undefined || !takesStrict ? {} : { strict }),
    },
  }
}

function unifiedChoice(choice: ToolChoice | undefined, names: ToolNames): JsonObject | undefined {
  switch (choice?.kind) {
    case 'auto':
      return { auto: {} }
    case 'required':
      return { any: {} }
    case 'function':
      return { tool: { name: names.sent(choice.name) } }
    default:
      return undefined
  }
}

/** Whether a reply's `toolUse` is of a hosted tool. */
export function isServerTool({ type }: JsonObject): boolean {
  return type === 'server_tool_use'
}
