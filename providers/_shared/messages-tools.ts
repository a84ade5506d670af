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

/** `tools` and `tool_choice` of the native messages API. Throws GatewayError `invalid_request`. */
export function messagesTools(
  chat: JsonObject,
  { dialect, upstreamModel }: MessagesRoute,
  native: NativeMessages | undefined,
): JsonObject {
  const takesStrict = dialect.providerType !== 'cloud_b_ml' || bedrockTakesStrict(upstreamModel)
  const tools = [
    ...readToolList(chat.tools).map((tool, index) =>
      messagesTool(tool, `tools.${index}`, dialect, native, takesStrict),
    ),
    ...(native?.serverTools ?? []),
  ]
  const choice = readToolChoice(chat.tool_choice, tools.length > 0)
  if (tools.length === 0 || (choice?.kind === 'none' && dialect.strict)) return {}
  const serial = native?.disableParallelToolUse === true || bansParallelCalls(chat.tool_choice)
  const toolChoice = messagesToolChoice(choice, serial)
  return { tools, ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }) }
}

function messagesTool(
  tool: JsonValue,
  field: string,
  dialect: MessagesDialect,
  native: NativeMessages | undefined,
  takesStrict: boolean,
): JsonObject {
  const definition = readFunctionTool(tool, field)
  if (definition === undefined) {
    if (isJsonObject(tool) && !dialect.strict) return tool
    throw invalidRequest(`${field}.type must be function`)
  }
  const { name, description, parameters, strict } = definition
  const cached = native?.cacheControl.get(field) ?? definition.cacheControl
  return {
    name,
    ...(description === undefined ? {} : { description }),
    input_schema: parameters,
    // Of a chat call it is left out: schemas that OpenAI's models follow can be too much for these.
    ...(native === undefined || strict === undefined || !takesStrict ? {} : { strict }),
    ...native?.members.get(field),
    ...(cached === undefined ? {} : { cache_control: cached }),
  }
}

function messagesToolChoice(
  choice: ToolChoice | undefined,
  disableParallel: boolean,
): JsonObject | undefined {
  if (choice === undefined && !disableParallel) return undefined
  const wire = wireChoice(choice ?? { kind: 'auto' })
  return disableParallel && wire.type !== 'none'
    ? { ...wire, disable_parallel_tool_use: true }
    : wire
}

function wireChoice(choice: ToolChoice): JsonObject {
  switch (choice.kind) {
    case 'required':
      return { type: 'any' }
    case 'function':
      return { type: 'tool', name: choice.name }
    default:
      return { type: choice.kind }
  }
}
