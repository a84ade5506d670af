import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { SurfaceCall } from 'model-gateway/surface'
import { invalid, isPresent, type NativeMessages, readChatRequest } from 'model-gateway/wire'
import { stringIn } from './blocks.ts'
import { convertTurns } from './turns.ts'

/** A request of the messages API as a chat call; `body` is that of a native route. */
export interface MessagesRequest extends SurfaceCall {
  readonly body: JsonObject
  readonly native: NativeMessages
  /** Those tool messages of `body` that report an error. */
  readonly failedResults: ReadonlySet<JsonObject>
}

/** Members that a chat call has too, under the same name. */
const SAME = ['model', 'stream', 'max_tokens', 'temperature', 'top_p', 'top_k'] as const

/** Members that are converted; all others are for a native upstream alone. */
const CONVERTED: ReadonlySet<string> = new Set([
  ...SAME,
  'stop_sequences',
  'system',
  'messages',
  'tools',
  'tool_choice',
  'anthropic_beta',
])

/** Members of a tool that its function has too, and what stands in the side channel by itself. */
const CONVERTED_OF_TOOLS: ReadonlySet<string> = new Set([
  ...['type', 'name', 'description', 'strict', 'input_schema', 'cache_control'],
])

/**
 * Converts a messages request. `betas` is the header `anthropic-beta`. `null` counts as absent.
 * Throws GatewayError `invalid_request`, which names the field as the caller wrote it.
 */
export function readMessages(value: JsonValue, betas: string | null): MessagesRequest {
  if (!isJsonObject(value)) throw invalid('the request body must be a JSON object')
  const { max_tokens: maxTokens, thread } = value
  if (isPresent(thread)) throw threadRefused()
  if (!Number.isInteger(maxTokens) || (maxTokens as number) < 0) {
    throw invalid('max_tokens is required: a whole number, the most tokens that the reply may have')
  }
  const body: JsonObject = {}
  for (const name of SAME) if (isPresent(value[name])) body[name] = value[name]
  if (isPresent(value.stop_sequences)) body.stop = value.stop_sequences

  const { messages, failedToolCalls, failedResults, cacheControl, members } = convertTurns(value)
  body.messages = messages
  const { tools, serverTools } = convertTools(value.tools, cacheControl, members)
  if (tools.length > 0) body.tools = tools
  const choice = convertToolChoice(value.tool_choice)
  if (choice !== undefined) body.tool_choice = choice.chat

  const read = readChatRequest(body)
  const wantsTools = tools.length === 0 && serverTools.length > 0
  return {
    ...read,
    body,
    features: wantsTools ? [...read.features, 'tools'] : read.features,
    exposedToolCount: tools.length + serverTools.length,
    failedResults,
    native: {
      fields: nativeFields(value, betas),
      serverTools,
      disableParallelToolUse: choice?.disableParallel ?? false,
      failedToolCalls,
      cacheControl,
      members,
    },
  }
}

function convertTools(
  list: JsonValue | undefined,
  cacheControl: Map<string, JsonValue>,
  members: Map<string, JsonObject>,
) {
  const tools: JsonObject[] = []
  const serverTools: JsonObject[] = []
  if (!isPresent(list)) return { tools, serverTools }
  if (!Array.isArray(list)) throw invalid('tools must be an array')
  for (const [i, tool] of list.entries()) {
    const place = `tools.${i}`
    if (!isJsonObject(tool)) throw invalid(`${place} must be an object`)
    if ((tool.type ?? 'custom') !== 'custom') {
      stringIn(tool, 'type', place)
      serverTools.push(tool)
      continue
    }
    const at = `tools.${tools.length}`
    if (isPresent(tool.cache_control)) cacheControl.set(at, tool.cache_control)
    const more = Object.entries(tool).filter(([name]) => !CONVERTED_OF_TOOLS.has(name))
    if (more.length > 0) members.set(at, Object.fromEntries(more))
    tools.push(functionTool(tool, place))
  }
  return { tools, serverTools }
}

function functionTool(tool: JsonObject, place: string): JsonObject {
  const { description, strict, input_schema: parameters } = tool
  if (!isJsonObject(parameters)) throw invalid(`${place}.input_schema must be an object`)
  return {
    type: 'function',
    function: {
      name: stringIn(tool, 'name', place),
      ...(typeof description === 'string' ? { description } : {}),
      parameters,
      ...(typeof strict === 'boolean' ? { strict } : {}),
    },
  }
}

function convertToolChoice(choice: JsonValue | undefined) {
  if (!isPresent(choice)) return undefined
  if (!isJsonObject(choice)) throw invalid('tool_choice must be an object')
  return {
    chat: chatToolChoice(choice),
    disableParallel: choice.disable_parallel_tool_use === true,
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

function nativeFields(value: JsonObject, header: string | null): JsonObject {
  const fields: JsonObject = Object.fromEntries(
    Object.entries(value).filter(([name, member]) => isPresent(member) && !CONVERTED.has(name)),
  )
  const listed = Array.isArray(value.anthropic_beta) ? value.anthropic_beta : []
  const betas = [...listed, ...(header ?? '').split(',').map((beta) => beta.trim())]
  const named = [...new Set(betas)].filter((beta) => beta !== '')
  if (named.length > 0) fields.anthropic_beta = named
  return fields
}

/**
 * Of a thread the upstream keeps the earlier turns, but the next call may go to another one. Official
 * clients that read this `error_code` send the whole conversation instead.
 */
function threadRefused(): GatewayError {
  return new GatewayError(
    'invalid_request',
    'thread: conversations are not kept here; send all messages, and no thread',
    { details: { details: { error_code: 'thread_unsupported_request' } } },
  )
}
