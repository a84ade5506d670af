import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { NativeMessages, ParamPolicy } from 'model-gateway/wire'
import {
  bansParallelCalls,
  bedrockTakesStrict,
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
  { dialect, upstreamModel }: MessagesRoute,
  native: NativeMessages | undefined,
  names: ToolNames,
  policy: ParamPolicy,
): JsonObject {
  const takesStrict = dialect.providerType !== 'cloud_b_ml' || bedrockTakesStrict(upstreamModel)
  const tools = [
    ...readToolList(chat.tools).flatMap((tool, index) =>
      messagesTool(tool, index, { dialect, native, names, takesStrict, policy }),
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
  readonly policy: ParamPolicy
}

function messagesTool(
  tool: JsonValue,
  index: number,
  { dialect, native, names, takesStrict, policy }: ToolContext,
): readonly JsonObject[] {
  const field = `tools.${index}`
  const definition = readFunctionTool(tool, field)
  if (definition === undefined) {
    // Tools that the upstream runs itself have a type and members of their own.
    const own = isJsonObject(tool) && !dialect.strict && tool.type !== 'custom'
    return own ? [tool] : leaveOutTool(index, policy)
  }
  const { name, description, parameters, strict } = definition
  const cached = native?.cacheControl.get(field) ?? definition.cacheControl
  const sent: JsonObject = {
    name: names.sent(name),
    ...(description === undefined ? {} : { description }),
    input_schema: parameters,
    // Of a chat call it is left out: schemas that OpenAI's models follow can be too much for these.
    ...(native === undefined || strict === undefined || !takesStrict ? {} : { strict }),
    ...native?.members.get(field),
    ...(cached === undefined ? {} : { cache_control: cached }),
  }
  return [sent]
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
