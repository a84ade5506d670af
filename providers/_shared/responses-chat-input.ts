import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { parseObject } from 'model-gateway/wire'
import { answeredCall, isNamed, readToolCall, toolCallsOf, unknownRole } from './chat-calls.ts'
import { wireSafeId } from './chat-conversation.ts'
import { invalidRequest } from './invalid-request.ts'
import { pairCalls } from './responses-chat-pairs.ts'
import { answerParts, inputParts, type PartReader, toolOutput } from './responses-chat-parts.ts'
import { type Memory, NOTHING_KEPT, preservedIn } from './responses-chat-reasoning.ts'
import type { ToolNames } from './tool-names.ts'

export interface InputReader extends PartReader {
  /** Maps tool names to the names that are sent. */
  readonly names: ToolNames
  readonly memory: Memory
}

/**
 * Converts the messages of a chat call to `input` of a responses call, in order. Each tool call
 * gets a result and each result a call, with unique ids. Throws GatewayError `invalid_request`,
 * also without any message to send.
 */
export function responsesInput(messages: JsonValue | undefined, reader: InputReader): JsonObject[] {
  if (!Array.isArray(messages)) throw invalidRequest('messages must be a list')
  const items = messages.flatMap((message, index) => {
    const place = `messages.${index}`
    if (!isJsonObject(message)) throw invalidRequest(`${place} must be an object`)
    if (message.role !== 'tool' && isNamed(message)) reader.dropped('messages[].name')
    if (isJsonObject(message.cache_control)) reader.dropped('messages[].cache_control')
    return itemsOf(message, place, reader)
  })
  if (items.length === 0) throw invalidRequest('messages must have a message with content')
  return pairCalls(items)
}

function itemsOf(message: JsonObject, place: string, reader: InputReader): JsonObject[] {
  const { role, content } = message
  switch (role) {
    case 'system':
    case 'developer': {
      const texts = inputParts(content, place, reader, 'text alone')
      return texts.length === 0 ? [] : [{ type: 'message', role, content: texts }]
    }
    case 'user': {
      const parts = inputParts(content, place, reader)
      // The service refuses a message without parts.
      const said = parts.length === 0 ? [{ type: 'input_text', text: '' }] : parts
      return [{ type: 'message', role, content: said }]
    }
    case 'assistant':
      return assistantItems(message, place, reader)
    case 'tool': {
      const call_id = wireSafeId(answeredCall(message, place))
      const output = toolOutput(content, place, reader)
      return [{ type: 'function_call_output', call_id, output }]
    }
    default:
      throw unknownRole(message, place)
  }
}

/** The text, then the calls, each after its reasoning. */
function assistantItems(message: JsonObject, place: string, reader: InputReader): JsonObject[] {
  const { reasoning, phase } = reader.memory === 'whole' ? preservedIn(message) : NOTHING_KEPT
  // Audio and images of earlier turns are not valid input in the model's turns.
  if (isJsonObject(message.audio)) reader.dropped('messages[].audio')
  if (Array.isArray(message.images)) reader.dropped('messages[].images')
  const content = answerParts(message, place, reader)
  const said: JsonObject[] =
    content.length === 0
      ? []
      : [
          ...(reasoning.get('message') ?? []),
          { type: 'message', role: 'assistant', content, ...(phase && { phase }) },
        ]
  const called = toolCallsOf(message, place).flatMap((call, index) => [
    ...(reasoning.get(String(call.id)) ?? []),
    callItem(call, `${place}.tool_calls.${index}`, reader.names),
  ])
  return [...said, ...called]
}

function callItem(call: JsonObject, place: string, names: ToolNames): JsonObject {
  const { id } = call
  if (typeof id !== 'string' || id === '') {
    throw invalidRequest(`${place}.id must be a non-empty string`)
  }
  const { name, input } = readToolCall(call, place)
  const made = { call_id: wireSafeId(id), name: names.sent(name) }
  if (call.type === 'custom') {
    return { type: 'custom_tool_call', ...made, input: input.input ?? '' }
  }
  return { type: 'function_call', ...made, arguments: argumentsOf(call, input) }
}

/** As the model wrote them, if they are an object. */
function argumentsOf({ function: called }: JsonObject, input: JsonObject): string {
  const written = isJsonObject(called) ? called.arguments : undefined
  const isObject = typeof written === 'string' && parseObject(written) !== undefined
  return isObject ? written : JSON.stringify(input)
}
