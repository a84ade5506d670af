import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import type { ContentBlock, MediaBlock, TextBlock, ToolResultBlock } from './chat-content.ts'
import type { Turn } from './chat-conversation.ts'
import { invalidRequest } from './invalid-request.ts'
import type { MessagesDialect } from './messages-dialect.ts'

/** The system texts, joined by a blank line; as a block if the text is to be cached. */
export function systemPrompt(messages: readonly (readonly TextBlock[])[]): JsonValue {
  const blocks = messages.map((texts): JsonObject => {
    const text = texts.map((block) => block.text).join('\n\n')
    const cached = texts.findLast((block) => block.cacheControl !== undefined)?.cacheControl
    return { type: 'text', text, ...(cached === undefined ? {} : { cache_control: cached }) }
  })
  return blocks.some((block) => block.cache_control !== undefined)
    ? blocks
    : blocks.map((block) => block.text).join('\n\n')
}

/** One turn of `messages`. Throws GatewayError `invalid_request`. */
export function messagesTurn(turn: Turn, dialect: MessagesDialect): JsonObject {
  const { role, blocks, bare } = turn
  const [first] = blocks
  const plain = first?.kind === 'text' && first.cacheControl === undefined
  if (!dialect.strict && bare && plain) return { role, content: first.text }
  return { role, content: blocks.map((block) => messagesBlock(block, dialect)) }
}

function messagesBlock(block: ContentBlock, dialect: MessagesDialect): JsonObject {
  const { cacheControl } = block
  const plain = plainBlock(block, dialect)
  return cacheControl === undefined ? plain : { ...plain, cache_control: cacheControl }
}

function plainBlock(block: ContentBlock, dialect: MessagesDialect): JsonObject {
  switch (block.kind) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: block.name, input: block.input }
    case 'tool_result':
      return toolResult(block, dialect)
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
): JsonObject {
  return {
    type: 'tool_result',
    tool_use_id: toolCallId,
    content:
      typeof content === 'string' ? content : content.map((block) => messagesBlock(block, dialect)),
    ...(failed ? { is_error: true } : {}),
  }
}

function documentBlock(block: MediaBlock): JsonObject {
  const { name, context } = block
  const about = {
    ...(name === undefined ? {} : { title: name }),
    ...(context === undefined ? {} : { context }),
  }
  switch (block.mediaType) {
    case 'application/pdf':
      return { type: 'document', source: base64Source(block), ...about }
    case 'text/plain': {
      const data = Buffer.from(block.data, 'base64').toString()
      return {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data },
        ...about,
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
