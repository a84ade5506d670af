import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ProviderCall } from 'model-gateway/provider'

/**
 * Converts a chat call to the vendor's request: system messages go to `brief`, others to `turns`.
 * Returns a new object, because the caller's is frozen. Throws GatewayError for what the vendor
 * does not support.
 */
export function vendorRequest({ body, stream }: ProviderCall, model: string): JsonObject {
  const brief: string[] = []
  const turns: JsonObject[] = []
  for (const [index, message] of listOf(body.messages).entries()) {
    const at = `messages.${index}`
    const { role, content, tool_calls, tool_call_id } = isJsonObject(message) ? message : {}
    if (role === 'system' || role === 'developer') brief.push(textOf(content, at))
    else if (role === 'user') turns.push({ by: 'person', parts: [say(textOf(content, at))] })
    else if (role === 'assistant') {
      const said = content === undefined || content === null ? [] : [say(textOf(content, at))]
      const acts = listOf(tool_calls).map((call) => actOf(call, at))
      turns.push({ by: 'model', parts: [...said, ...acts] })
    } else if (role === 'tool' && typeof tool_call_id === 'string') {
      const part = { kind: 'outcome', call: tool_call_id, text: textOf(content, at) }
      turns.push({ by: 'person', parts: [part] })
    } else throw refused(at, 'must be a system, developer, user, assistant or tool message')
  }
  const limit = body.max_completion_tokens ?? body.max_tokens
  const actions = listOf(body.tools).map(actionOf)
  return {
    engine: model,
    ...(brief.length > 0 && { brief: brief.join('\n\n') }),
    turns,
    flow: stream,
    ...(typeof limit === 'number' && { at_most: limit }),
    ...(typeof body.temperature === 'number' && { warmth: body.temperature }),
    ...(actions.length > 0 && { actions, act: choiceOf(body.tool_choice) }),
  }
}

function say(text: string): JsonObject {
  return { kind: 'say', text }
}

/** A string, or a list of text parts. */
function textOf(content: JsonValue | undefined, at: string): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) throw refused(at, 'content must be a string or a list of text parts')
  return content
    .map((part) => {
      if (isJsonObject(part) && part.type === 'text' && typeof part.text === 'string') {
        return part.text
      }
      throw refused(at, 'content has a part that is not text, which Brook does not support')
    })
    .join('')
}

/** A tool call of an earlier turn. The vendor takes its arguments as an object. */
function actOf(call: JsonValue, at: string): JsonObject {
  const { id, function: made } = isJsonObject(call) ? call : {}
  const { name, arguments: text } = isJsonObject(made) ? made : {}
  if (typeof id !== 'string' || typeof name !== 'string' || typeof text !== 'string') {
    throw refused(at, 'a tool call has no id, name or arguments')
  }
  try {
    return { kind: 'act', call: id, action: name, input: JSON.parse(text === '' ? '{}' : text) }
  } catch (cause) {
    throw refused(at, 'the arguments of a tool call are not JSON', cause)
  }
}

function actionOf(tool: JsonValue, index: number): JsonObject {
  const { function: spec } = isJsonObject(tool) ? tool : {}
  if (!isJsonObject(spec) || typeof spec.name !== 'string') {
    throw refused(`tools.${index}`, 'is not a function with a name')
  }
  const { name, description, parameters } = spec
  return {
    name,
    ...(typeof description === 'string' && { about: description }),
    takes: isJsonObject(parameters) ? parameters : { type: 'object' },
  }
}

function choiceOf(choice: JsonValue | undefined): JsonValue {
  if (choice === undefined || choice === 'auto') return 'may'
  if (choice === 'none') return 'never'
  if (choice === 'required') return 'must'
  const { function: named } = isJsonObject(choice) ? choice : {}
  if (isJsonObject(named) && typeof named.name === 'string') return { must: named.name }
  throw refused('tool_choice', 'must be auto, none, required or a named function')
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

function refused(at: string, why: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', `${at}: ${why}`, { cause })
}
