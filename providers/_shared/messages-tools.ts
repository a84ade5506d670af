import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ParamPolicy } from 'model-gateway/wire'
import {
  bansParallelCalls,
  leaveOutTool,
  readFunctionTool,
  readToolChoice,
  readToolList,
  type ToolChoice,
} from './chat-tools.ts'
import type { MessagesDialect } from './messages-dialect.ts'
import type { MessagesRoute } from './messages-request.ts'
import type { ToolNames } from './tool-names.ts'

/** `tools` and `tool_choice` of the native messages API. Throws GatewayError `invalid_request`. */
export function messagesTools(
  chat: JsonObject,
  { dialect }: MessagesRoute,
  names: ToolNames,
  policy: ParamPolicy,
): JsonObject {
  const tools = readToolList(chat.tools).flatMap((tool, index) =>
    messagesTool(tool, index, { dialect, names, policy }),
  )
  const choice = readToolChoice(chat.tool_choice, tools.length > 0)
  if (tools.length === 0 || (choice?.kind === 'none' && dialect.strict)) return {}
  const serial = chat.parallel_tool_calls === false || bansParallelCalls(chat.tool_choice)
  const toolChoice = messagesToolChoice(choice, serial, names)
  return { tools, ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }) }
}

interface ToolContext {
  readonly dialect: MessagesDialect
  readonly names: ToolNames
  readonly policy: ParamPolicy
}

function messagesTool(
  tool: JsonValue,
  index: number,
  { dialect, names, policy }: ToolContext,
): readonly JsonObject[] {
  const definition = readFunctionTool(tool, `tools.${index}`)
  if (definition === undefined) {
    // Hosted tools have a type and other members.
    const own = isJsonObject(tool) && !dialect.strict && tool.type !== 'custom'
    return own ? [tool] : leaveOutTool(index, policy)
  }
  // `strict` is dropped, because schemas for OpenAI's models can be too complex for these.
  const { name, description, parameters, cacheControl } = definition
  const sent: JsonObject = {
    name: names.sent(name),
    ...(description === undefined ? {} : { description }),
    input_schema: parameters,
    ...(cacheControl === undefined ? {} : { cache_control: cacheControl }),
  }
  return [sent]
}

/** `tool_choice`, or undefined. */
export function messagesToolChoice(
  choice: ToolChoice | undefined,
  disableParallel: boolean,
  names: ToolNames,
): JsonObject | undefined {
  if (choice === undefined && !disableParallel) return undefined
  const wire = wireChoice(choice ?? { kind: 'auto' }, names)
  return disableParallel && wire.type !== 'none'
    ? { ...wire, disable_parallel_tool_use: true }
    : wire
}

function wireChoice(choice: ToolChoice, names: ToolNames): JsonObject {
  switch (choice.kind) {
    case 'required':
      return { type: 'any' }
    case 'function':
      return { type: 'tool', name: names.sent(choice.name) }
    default:
      return { type: choice.kind }
  }
}
