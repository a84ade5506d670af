import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { nestsTooDeep, parseExact } from 'model-gateway/wire'
import {
  assistantContent,
  type ContentBlock,
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
  /** The content was one string, not a list. */
  readonly bare: boolean
}

/** A chat call's messages as upstreams with user and assistant turns see them. */
export interface Conversation {
  /** The texts of each system and developer message that is not empty, in order. */
  readonly system: readonly (readonly TextBlock[])[]
  readonly turns: readonly Turn[]
}

export interface ReadConversationOptions {
  /** The names under which tools are sent. */
  readonly names: ToolNames
  /** Told of what is left out of messages, by its path. */
  dropped(name: string): void
  /** Tool calls whose results report an error. */
  readonly failedToolCalls?: ReadonlySet<string> | undefined
}

/**
 * Reads `messages` into turns as `strictTurns` makes them. Ids of tool calls that the wire refuses
 * are replaced by equal ones on both sides of a call. Throws GatewayError `invalid_request`, also
 * when there is nothing to send besides system messages.
 */
export function readConversation(
  messages: JsonValue | undefined,
  { names, dropped, failedToolCalls }: ReadConversationOptions,
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
        const blocks = [toolResult(message, place, failedToolCalls)]
        turns.push({ role: 'user', blocks: marked(blocks, message), bare: false })
        break
      }
      case 'user': {
        const blocks = marked(readContent(message.content, place).map(safeResult), message)
        turns.push({ role: 'user', blocks, bare: typeof message.content === 'string' })
        break
      }
      case 'assistant': {
        const calls = toolUses(message.tool_calls, place, names)
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
        throw invalidRequest(
          `${place}.role: ${JSON.stringify(message.role ?? null)} is not supported`,
        )
    }
  }
  const strict = strictTurns(turns)
  if (strict.length === 0) {
    throw invalidRequest(
      'messages must hold a message with content besides system and developer ones',
    )
  }
  return { system, turns: strict }
}

function isNamed({ name }: JsonObject): boolean {
  return typeof name === 'string' && name !== ''
}

/** Parts in which some clients send back what a model thought; it is not for the next turn. */
const THOUGHTS: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking', 'reasoning'])

function withoutThoughts(
  content: JsonValue | undefined,
  dropped: (name: string) => void,
): JsonValue | undefined {
  if (!Array.isArray(content)) return content
  return content.filter((part) => {
    const thought = isJsonObject(part) && THOUGHTS.has(part.type)
    if (thought) dropped(`messages[].content[].${part.type}`)
    return !thought
  })
}

/** `cache_control` of a whole message is that of its last block. */
function marked<B extends ContentBlock>(
  blocks: readonly B[],
  { cache_control: mark }: JsonObject,
): readonly B[] {
  const last = blocks.at(-1)
  if (last === undefined || !isJsonObject(mark) || last.cacheControl !== undefined) return blocks
  return [...blocks.slice(0, -1), { ...last, cacheControl: mark }]
}

function toolResult(
  message: JsonObject,
  place: string,
  failed: ReadonlySet<string> | undefined,
): ToolResultBlock {
  const { tool_call_id: id } = message
  if (typeof id !== 'string' || id === '') {
    throw invalidRequest(`${place}.tool_call_id must be a non-empty string`)
  }
  return {
    kind: 'tool_result',
    place,
    toolCallId: wireSafeId(id),
    content: readToolContent(message.content, place),
    failed: failed?.has(id) ?? false,
  }
}

function safeResult(block: ContentBlock): ContentBlock {
  return block.kind === 'tool_result'
    ? { ...block, toolCallId: wireSafeId(block.toolCallId) }
    : block
}

function toolUses(calls: JsonValue | undefined, place: string, names: ToolNames): ToolUseBlock[] {
  if (calls === undefined || calls === null) return []
  if (!Array.isArray(calls)) throw invalidRequest(`${place}.tool_calls must be a list`)
  return calls.map((call, index) => {
    const at = `${place}.tool_calls.${index}`
    if (!isJsonObject(call)) throw invalidRequest(`${at} must be an object`)
    if ((call.type ?? 'function') !== 'function')
      throw invalidRequest(`${at}.type must be function`)
    if (typeof call.id !== 'string' || call.id === '') {
      throw invalidRequest(`${at}.id must be a non-empty string`)
    }
    const called = isJsonObject(call.function) ? call.function : {}
    if (typeof called.name !== 'string' || called.name === '') {
      throw invalidRequest(`${at}.function.name must be a non-empty string`)
    }
    return {
      kind: 'tool_use',
      place: at,
      id: wireSafeId(call.id),
      name: names.sent(called.name),
      input: toolInput(called.arguments),
      ...(isJsonObject(call.cache_control) ? { cacheControl: call.cache_control } : {}),
    }
  })
}

/**
 * The arguments of a call in the history as an object. What a model wrote that is not one is kept
 * as text: refused, it would end the conversation for good.
 */
function toolInput(stated: JsonValue | undefined): JsonObject {
  if (isJsonObject(stated)) return stated
  const text = typeof stated === 'string' ? stated : JSON.stringify(stated ?? null)
  if (text.trim() === '' || text === 'null') return {}
  try {
    const input = nestsTooDeep(text) ? undefined : parseExact(text)
    if (isJsonObject(input)) return input
  } catch {}
  return { _raw_arguments: text }
}

const WIRE_SAFE = /^[A-Za-z0-9_-]{1,64}$/

function wireSafeId(id: string): string {
  return WIRE_SAFE.test(id) ? id : hashedId(id)
}
