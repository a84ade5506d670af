import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { mayBeRounded, parseExact } from 'model-gateway/wire'

/**
 * The same request, parsed from `text`, with exact numbers in its tool calls. Other members do not
 * have such long numbers.
 */
export function withExactInputs(request: JsonValue, text: string): JsonValue {
  if (!mayBeRounded(text)) return request
  const exact = toolCallsOf(parseExact(text))
  for (const [i, call] of toolCallsOf(request).entries()) {
    const input = exact[i]?.input
    if (input !== undefined) call.input = input
  }
  return request
}

function toolCallsOf(request: JsonValue): readonly JsonObject[] {
  const messages = isJsonObject(request) ? request.messages : undefined
  if (!Array.isArray(messages)) return []
  return messages
    .flatMap((message) => (isJsonObject(message) ? message.content : undefined))
    .filter((block) => isJsonObject(block))
    .filter(({ type }) => type === 'tool_use')
}
