import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import type { ContentBlock, MediaBlock, TextBlock, ToolResultBlock } from './chat-content.ts'
import type { Turn } from './chat-conversation.ts'
import { invalidRequest } from './invalid-request.ts'
import type { MessagesDialect } from './messages-dialect.ts'

/** `cache_control` by place in the chat call. */
export type CacheControl = ReadonlyMap<string, JsonValue> | undefined

/** The system texts, joined by a blank line; as a block where the text is to be cached. */
export function systemPrompt(
  messages: readonly (readonly TextBlock[])[],
  caches: CacheControl,
): JsonValue {
  const blocks = messages.map((texts): JsonObject => {
    const text = texts.map((block) => block.text).join('\n\n')
    const cached = texts.map((block) => cacheOf(block, caches)).findLast((c) => c !== undefined)
    return { type: 'text', text, ...(cached === undefined ? {} : { cache_control: cached }) }
  })
  return blocks.some((block) => block.cache_control !== undefined)
    ? blocks
    : blocks.map((block) => block.text).join('\n\n')
}

/** One turn of `messages`. Throws GatewayError `invalid_request`. */
export function messagesTurn(
  turn: Turn,
  dialect: MessagesDialect,
  caches: CacheControl,
): JsonObject {
  const { role, blocks, bare } = turn
  const [first] = blocks
  if (!dialect.strict && bare && first?.kind === 'text' && cacheOf(first, caches) === undefined) {
    return { role, content: first.text }
  }
  return { role, content: blocks.map((block) => messagesBlock(block, dialect, caches)) }
}

function messagesBlock(
  block: ContentBlock,
  dialect: MessagesDialect,
  caches: CacheControl,
): JsonObject {
  const cached = cacheOf(block, caches)
  return {
    ...plainBlock(block, dialect, caches),
    ...(cached === undefined ? {} : { cache_control: cached }),
  }
}

function plainBlock(
  block: ContentBlock,
  dialect: MessagesDialect,
  caches: CacheControl,
): JsonObject {
  switch (block.kind) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: block.name, input: block.input }
    case 'tool_result':
      return toolResult(block, dialect, caches)
    case 'image':
    case 'document':
      if (!dialect.media) {
        throw invalidRequest(`${block.place}: images and files are not supported by this route`)
      }
      return block.kind === 'image'
        ? { type: 'image', source: base64Source(block) }
        : documentBlock(block)
  }
}

function toolResult(
  { toolCallId, content, failed }: ToolResultBlock,
  dialect: MessagesDialect,
  caches: CacheControl,
): JsonObject {
  return {
    type: 'tool_result',
    tool_use_id: toolCallId,
    content:
      typeof content === 'string'
        ? content
        : content.map((block) => messagesBlock(block, dialect, caches)),
    ...(failed ? { is_error: true } : {}),
  }
}

function documentBlock(block: MediaBlock): JsonObject {
  const title = block.name === undefined ? {} : { title: block.name }
  switch (block.mediaType) {
    case 'application/pdf':
      return { type: 'document', source: base64Source(block), ...title }
    case 'text/plain': {
      const data = Buffer.from(block.data, 'base64').toString()
      return {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data },
        ...title,
      }
    }
    default:
      throw invalidRequest(
        `${block.place}: files must be application/pdf or text/plain, not ${block.mediaType}`,
      )
  }
}

function base64Source({ mediaType, data }: MediaBlock): JsonObject {
  return { type: 'base64', media_type: mediaType, data }
}

function cacheOf(block: ContentBlock, caches: CacheControl): JsonValue | undefined {
  return block.cacheControl ?? caches?.get(block.place)
}
