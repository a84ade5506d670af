import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { answeredCall, isNamed, readToolCall, toolCallsOf, unknownRole } from './chat-calls.ts'
import {
  assistantContent,
  type ContentBlock,
  isThought,
  readContent,
  readTexts,
  readToolContent,
  type TextBlock,
  type ToolResultBlock,
  type ToolUseBlock,
} from './chat-content.ts'
import { hashedId, strictTurns } from './chat-turns.ts'
import { invalidRequest } from './invalid-request.ts'
import type { ToolNames } from './tool-names.ts'

export interface Turn {
  readonly role: 'user' | 'assistant'
  readonly blocks: readonly ContentBlock[]
  /** The content was a string, not a list. */
  readonly bare: boolean
}

/** A chat call's messages as system texts and strict turns. */
export interface Conversation {
  /** The texts of each non-empty system and developer message, in order. */
  readonly system: readonly (readonly TextBlock[])[]
  readonly turns: readonly Turn[]
}

export interface ReadConversationOptions {
  /** Maps tool names to the names that are sent. */
  readonly names: ToolNames
  /** Called with the path of each member that is left out. */
  dropped(name: string): void
}

/**
 * Reads `messages` into the turns of `strictTurns`. Invalid tool call ids are replaced in both call
 * and result. Throws GatewayError `invalid_request`, also when only system messages remain.
 */
export function readConversation(
  messages: JsonValue | undefined,
  { names, dropped }: ReadConversationOptions,
): Conversation {
  if (!Array.isArray(messages)) throw invalidRequest('messages must be a list')
  const system: (readonly TextBlock[])[] = []
  const turns: Turn[] = []
  for (const [index, message] of messages.entries()) {
    const place = `messages.${index}`
    if (!isJsonObject(message)) throw invalidRequest(`${place} must be an object`)
    if (message.role !== 'tool' && isNamed(message)) dropped('messages[].name')
    switch (message.role) {
      case 'system':
      case 'developer': {
        const texts = readTexts(message.content, place)
        if (texts.length > 0) system.push(marked(texts, message))
        break
      }
      case 'tool': {
        const blocks = [toolResult(message, place)]
        turns.push({ role: 'user', blocks: marked(blocks, message), bare: false })
        break
      }
      case 'user': {
        const blocks = marked(readContent(message.content, place).map(safeResult), message)
        turns.push({ role: 'user', blocks, bare: typeof message.content === 'string' })
        break
      }
      case 'assistant': {
        const calls = toolUses(message, place, names)
        const content = withoutThoughts(assistantContent(message), dropped)
        if (isJsonObject(message.audio)) dropped('messages[].audio')
        if (Array.isArray(message.images)) dropped('messages[].images')
        const texts = readTexts(content, place)
        turns.push({
          role: 'assistant',
          blocks: marked([...texts, ...calls], message),
          bare: typeof content === 'string' && calls.length === 0,
        })
        break
      }
      default:
        throw unknownRole(message, place)
    }
  }
  const strict = strictTurns(turns)
  if (strict.length === 0) {
    throw invalidRequest(
      'messages must have a message with content that is not a system or developer message',
    )
  }
  return { system, turns: strict }
}

function withoutThoughts(
  content: JsonValue | undefined,
  dropped: (name: string) => void,
): JsonValue | undefined {
  if (!Array.isArray(content)) return content
  return content.filter((part) => {
    if (!isJsonObject(part) || !isThought(part)) return true
    dropped(`messages[].content[].${part.type}`)
    return false
  })
}

/** `cache_control` of a whole message applies to its last block. */
function marked<B extends ContentBlock>(
  blocks: readonly B[],
  { cache_control: mark }: JsonObject,
): readonly B[] {
  const last = blocks.at(-1)
  if (last === undefined || !isJsonObject(mark) || last.cacheControl !== undefined) return blocks
  return [...blocks.slice(0, -1), { ...last, cacheControl: mark }]
}

function toolResult(message: JsonObject, place: string): ToolResultBlock {
  return {
    kind: 'tool_result',
    place,
    toolCallId: wireSafeId(answeredCall(message, place)),
    content: readToolContent(message.content, place),
    failed: message.is_error === true,
  }
}

function safeResult(block: ContentBlock): ContentBlock {
  return block.kind === 'tool_result'
    ? { ...block, toolCallId: wireSafeId(block.toolCallId) }
    : block
}

function toolUses(message: JsonObject, place: string, names: ToolNames): ToolUseBlock[] {
  return toolCallsOf(message, place).map((call, index) => {
    const at = `${place}.tool_calls.${index}`
    if (typeof call.id !== 'string' || call.id === '') {
      throw invalidRequest(`${at}.id must be a non-empty string`)
    }
    const { name, input } = readToolCall(call, at)
    return {
      kind: 'tool_use',
      place: at,
      id: wireSafeId(call.id),
      name: names.sent(name),
      input,
      ...(isJsonObject(call.cache_control) ? { cacheControl: call.cache_control } : {}),
    }
  })
}

const WIRE_SAFE = /^[A-Za-z0-9_-]{1,64}$/

export function wireSafeId(id: string): string {
  return WIRE_SAFE.test(id) ? id : hashedId(id)
}
