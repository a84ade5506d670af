import { createHash } from 'node:crypto'
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { DEEPEST_JSON, nestsTooDeep, parseExact } from 'model-gateway/wire'
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
import { invalidRequest } from './invalid-request.ts'

export interface Turn {
  readonly role: 'user' | 'assistant'
  /** May be empty. */
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
  /** Replaces tool call ids that the wire refuses, by equal ones on both sides of a call. */
  readonly wireSafeIds: boolean
  /** Tool calls whose results report an error. */
  readonly failedToolCalls?: ReadonlySet<string> | undefined
}

/**
 * Reads `messages`. Consecutive tool messages, and a user message right after them, are one user
 * turn. Throws GatewayError `invalid_request`, also when there is no message besides system ones.
 */
export function readConversation(
  messages: JsonValue | undefined,
  { wireSafeIds, failedToolCalls }: ReadConversationOptions,
): Conversation {
  if (!Array.isArray(messages)) throw invalidRequest('messages must be a list')
  const wireId = wireSafeIds ? wireSafeId : (id: string) => id
  const system: (readonly TextBlock[])[] = []
  const turns: Turn[] = []
  /** Results of the tool messages just read. */
  let results: ContentBlock[] = []

  const flush = () => {
    if (results.length > 0) turns.push({ role: 'user', blocks: results, bare: false })
    results = []
  }

  for (const [index, message] of messages.entries()) {
    const place = `messages.${index}`
    if (!isJsonObject(message)) throw invalidRequest(`${place} must be an object`)
    switch (message.role) {
      case 'system':
      case 'developer': {
        const texts = readTexts(message.content, place)
        if (texts.length > 0) system.push(texts)
        break
      }
      case 'tool':
        results.push(toolResult(message, place, wireId, failedToolCalls))
        break
      case 'user': {
        const blocks = readContent(message.content, place).map((block) => safeResult(block, wireId))
        if (results.length > 0) {
          results.push(...blocks)
          flush()
        } else {
          turns.push({ role: 'user', blocks, bare: typeof message.content === 'string' })
        }
        break
      }
      case 'assistant': {
        flush()
        const calls = toolUses(message.tool_calls, place, wireId)
        const content = assistantContent(message)
        const texts = readTexts(content, place)
        turns.push({
          role: 'assistant',
          blocks: [...texts, ...calls],
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
  flush()
  if (turns.length === 0) {
    throw invalidRequest('messages must hold a message besides system and developer ones')
  }
  return { system, turns }
}

function toolResult(
  message: JsonObject,
  place: string,
  wireId: (id: string) => string,
  failed: ReadonlySet<string> | undefined,
): ToolResultBlock {
  const { tool_call_id: id } = message
  if (typeof id !== 'string' || id === '') {
    throw invalidRequest(`${place}.tool_call_id must be a non-empty string`)
  }
  return {
    kind: 'tool_result',
    place,
    toolCallId: wireId(id),
    content: readToolContent(message.content, place),
    failed: failed?.has(id) ?? false,
  }
}

function safeResult(block: ContentBlock, wireId: (id: string) => string): ContentBlock {
  return block.kind === 'tool_result' ? { ...block, toolCallId: wireId(block.toolCallId) } : block
}

function toolUses(
  calls: JsonValue | undefined,
  place: string,
  wireId: (id: string) => string,
): ToolUseBlock[] {
  if (calls === undefined || calls === null) return []
  if (!Array.isArray(calls)) throw invalidRequest(`${place}.tool_calls must be a list`)
  return calls.map((call, index) => {
    const at = `${place}.tool_calls.${index}`
    if (!isJsonObject(call)) throw invalidRequest(`${at} must be an object`)
    if (call.type !== 'function') throw invalidRequest(`${at}.type must be function`)
    if (typeof call.id !== 'string' || call.id === '') {
      throw invalidRequest(`${at}.id must be a non-empty string`)
    }
    const name = isJsonObject(call.function) ? call.function.name : undefined
    if (typeof name !== 'string' || name === '') {
      throw invalidRequest(`${at}.function.name must be a non-empty string`)
    }
    const input = parseArguments(
      (call.function as JsonObject).arguments,
      `${at}.function.arguments`,
    )
    return { kind: 'tool_use', place: at, id: wireId(call.id), name, input }
  })
}

function parseArguments(text: JsonValue | undefined, field: string): JsonObject {
  if (text === undefined || text === null || text === '') return {}
  if (typeof text === 'string' && nestsTooDeep(text)) {
    throw invalidRequest(`${field} nests arrays and objects more than ${DEEPEST_JSON} deep`)
  }
  let input: unknown
  try {
    input = typeof text === 'string' ? parseExact(text) : undefined
  } catch {
    input = undefined
  }
  if (!isJsonObject(input)) {
    throw invalidRequest(`${field} must be a JSON object, as text`)
  }
  return input
}

const WIRE_SAFE = /^[A-Za-z0-9_-]{1,64}$/

function wireSafeId(id: string): string {
  return WIRE_SAFE.test(id) ? id : `tool_${createHash('sha256').update(id).digest('base64url')}`
}
