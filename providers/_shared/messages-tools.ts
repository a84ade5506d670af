import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { NativeMessages } from 'model-gateway/wire'
import {
  bansParallelCalls,
  bedrockTakesStrict,
  readFunctionTool,
  readToolChoice,
  readToolList,
  type ToolChoice,
} from './chat-tools.ts'
import { invalidRequest } from './invalid-request.ts'
import type { MessagesDialect } from './messages-dialect.ts'
import type { MessagesRoute } from './messages-request.ts'
import type { ToolNames } from './tool-names.ts'

/** `tools` and `tool_choice` of the native messages API. Throws GatewayError `invalid_request`. */
export function messagesTools(
  chat: JsonObject,
  { dialect, upstreamModel }: MessagesRoute,
  native: NativeMessages | undefined,
  names: ToolNames,
): JsonObject {
  const takesStrict = dialect.providerType !== 'cloud_b_ml' || bedrockTakesStrict(upstreamModel)
  const tools = [
    ...readToolList(chat.tools).map((tool, index) =>
      messagesTool(tool, `tools.${index}`, { dialect, native, names, takesStrict }),
    ),
    ...(native?.serverTools ?? []),
  ]
  const choice = readToolChoice(chat.tool_choice, tools.length > 0)
  if (tools.length === 0 || (choice?.kind === 'none' && dialect.strict)) return {}
  const serial =
    chat.parallel_tool_calls === false ||
    native?.disableParallelToolUse === true ||
    bansParallelCalls(chat.tool_choice)
  const toolChoice = messagesToolChoice(choice, serial, names)
  return { tools, ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }) }
}

interface ToolContext {
  readonly dialect: MessagesDialect
  readonly native: NativeMessages | undefined
  readonly names: ToolNames
  readonly takesStrict: boolean
}

function messagesTool(
  tool: JsonValue,
  field: string,
  { dialect, native, names, takesStrict }: ToolContext,
): JsonObject {
  const definition = readFunctionTool(tool, field)
  if (definition === undefined) {
    if (isJsonObject(tool) && !dialect.strict) return tool
    throw invalidRequest(`${field}.type must be function`)
  }
  const { name, description, parameters, strict } = definition
  const cached = native?.cacheControl.get(field) ?? definition.cacheControl
  return {
    name: names.sent(name),
    ...(description === undefined ? {} : { description }),
    input_schema: parameters,
    // Of a chat call it is left out: schemas that OpenAI's models follow can be too much for these.
    ...(native === undefined || strict === undefined || !takesStrict ? {} : { strict }),
    ...native?.members.get(field),
    ...(cached === undefined ? {} : { cache_control: cached }),
  }
}

/** `tool_choice`; undefined when there is nothing to say. */
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
