import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { nestsTooDeep } from 'model-gateway/wire'
import { assistantContent } from './chat-content.ts'
import { isMediaPart, mediaPart } from './google-content-media.ts'
import { invalidRequest } from './invalid-request.ts'

export interface GoogleConversation {
  readonly contents: JsonObject[]
  readonly systemInstruction: JsonObject | undefined
}

/**
 * The messages of a chat call as Google content. Consecutive tool messages are one user content.
 * `lostSignature` is given to the first call of a turn that has none. Throws GatewayError
 * `invalid_request`, also when there is no message besides system ones.
 */
export function googleConversation(
  messages: JsonValue | undefined,
  lostSignature: string | undefined,
): GoogleConversation {
  if (!Array.isArray(messages)) throw invalidRequest('messages must be a list')
  const contents: JsonObject[] = []
  const system: string[] = []
  /** Names of the functions that the assistant called, by the id of the call. */
  const names = new Map<string, string>()
  /** The parts of the user content that consecutive tool messages fill. */
  let responses: JsonObject[] | undefined
  for (const [index, message] of messages.entries()) {
    const place = `messages.${index}`
    if (!isJsonObject(message)) throw invalidRequest(`${place} must be an object`)
    if (message.role === 'tool') {
      if (responses === undefined) {
        responses = []
        contents.push({ role: 'user', parts: responses })
      }
      responses.push(functionResponse(message, place, names))
      continue
    }
    // Between two results it is not between their parts, whose number the upstream checks.
    if (message.role === 'system' || message.role === 'developer') {
      system.push(...textsOf(message.content, place).filter((text) => text !== ''))
      continue
    }
    responses = undefined
    switch (message.role) {
      case 'user':
        contents.push({ role: 'user', parts: filled(contentParts(message.content, place)) })
        break
      case 'assistant': {
        const parts = contentParts(assistantContent(message), place)
        parts.push(...functionCalls(message.tool_calls, place, names, lostSignature))
        contents.push({ role: 'model', parts: filled(parts) })
        break
      }
      default:
        throw invalidRequest(
          `${place}.role: ${JSON.stringify(message.role ?? null)} is not supported`,
        )
    }
  }
  if (contents.length === 0) {
    throw invalidRequest('messages must hold a message besides system and developer ones')
  }
  return {
    contents,
    systemInstruction: system.length === 0 ? undefined : { parts: [{ text: system.join('\n\n') }] },
  }
}

/** A content must have a part. */
function filled(parts: JsonObject[]): JsonObject[] {
  return parts.length === 0 ? [{ text: '' }] : parts
}

/** Without empty texts, which the upstream refuses. */
function contentParts(content: JsonValue | undefined, place: string): JsonObject[] {
  return readParts(content, place).flatMap(({ part, at }) => {
    if (isText(part)) {
      const text = textPart(part, at)
      return text === '' ? [] : [{ text }]
    }
    if (isMediaPart(part)) return [mediaPart(part, at)]
    throw invalidRequest(`${at}.type: ${JSON.stringify(part.type ?? null)} is not supported`)
  })
}

/** The texts of a content that may hold nothing else. */
function textsOf(content: JsonValue | undefined, place: string): string[] {
  return readParts(content, place).map(({ part, at }) => {
    if (isText(part)) return textPart(part, at)
    throw invalidRequest(`${at}: only text is possible here`)
  })
}

function readParts(content: JsonValue | undefined, place: string) {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') {
    return [{ part: { type: 'text', text: content }, at: `${place}.content` }]
  }
  if (!Array.isArray(content)) {
    throw invalidRequest(`${place}.content must be a string or a list of parts`)
  }
  return content.map((part, index) => {
    const at = `${place}.content.${index}`
    if (!isJsonObject(part)) throw invalidRequest(`${at} must be an object`)
    return { part, at }
  })
}

function isText({ type }: JsonObject): boolean {
  return type === 'text' || type === 'input_text'
}

function textPart({ text }: JsonObject, at: string): string {
  if (typeof text !== 'string') throw invalidRequest(`${at}.text must be a string`)
  return text
}

function functionCalls(
  calls: JsonValue | undefined,
  place: string,
  names: Map<string, string>,
  lostSignature: string | undefined,
): JsonObject[] {
  if (calls === undefined || calls === null) return []
  if (!Array.isArray(calls)) throw invalidRequest(`${place}.tool_calls must be a list`)
  return calls.map((call, index) => {
    const at = `${place}.tool_calls.${index}`
    if (!isJsonObject(call)) throw invalidRequest(`${at} must be an object`)
    if (call.type !== undefined && call.type !== 'function') {
      throw invalidRequest(`${at}.type must be function`)
    }
    const definition = isJsonObject(call.function) ? call.function : {}
    const { name } = definition
    if (typeof name !== 'string' || name === '') {
      throw invalidRequest(`${at}.function.name must be a non-empty string`)
    }
    const id = typeof call.id === 'string' && call.id !== '' ? call.id : undefined
    if (id !== undefined) names.set(id, name)
    const lost = index === 0 ? lostSignature : undefined
    const signature = call.thought_signature ?? call.thoughtSignature ?? lost
    return {
      functionCall: {
        ...(id === undefined ? {} : { id }),
        name,
        args: parseArguments(definition.arguments, `${at}.function.arguments`),
      },
      ...(typeof signature === 'string' ? { thoughtSignature: signature } : {}),
    }
  })
}

function parseArguments(text: JsonValue | undefined, field: string): JsonObject {
  if (text === undefined || text === null || text === '') return {}
  const value = typeof text === 'string' ? parseObject(text) : undefined
  if (value === undefined) throw invalidRequest(`${field} must be a JSON object, as text`)
  return value
}

function functionResponse(
  message: JsonObject,
  place: string,
  names: ReadonlyMap<string, string>,
): JsonObject {
  const { tool_call_id: id } = message
  if (typeof id !== 'string' || id === '') {
    throw invalidRequest(`${place}.tool_call_id must be a non-empty string`)
  }
  const name = names.get(id)
  if (name === undefined) {
    throw invalidRequest(`${place}.tool_call_id: no earlier message has a tool call of this id`)
  }
  const text = textsOf(message.content, place).join('')
  return { functionResponse: { id, name, response: parseObject(text) ?? { output: text } } }
}

function parseObject(text: string): JsonObject | undefined {
  if (nestsTooDeep(text)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
