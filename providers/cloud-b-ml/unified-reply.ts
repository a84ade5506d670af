import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ProviderCall } from 'model-gateway/provider'
import { type ChatToolCall, chatReply } from '../_shared/chat-reply.ts'
import { usageFromConverse } from '../_shared/chat-usage.ts'
import { finishReason } from '../_shared/finish-reason.ts'
import { malformedReply } from '../_shared/malformed-reply.ts'
import { toolCallId } from '../_shared/reply-ids.ts'
import type { ToolNames } from '../_shared/tool-names.ts'
import { imagePart, keptFacts, providerMetadata } from './metadata.ts'
import { isServerTool } from './unified-tools.ts'

/** Data of a reply in addition to its body. */
export interface ReplyFacts {
  readonly id: string | undefined
  readonly model: string
  /** Maps the sent tool names to the caller's. */
  readonly names: ToolNames
}

/**
 * Converts a Converse reply to a chat completion, with `usage`. Throws GatewayError
 * `upstream_transport` for a malformed reply.
 */
export function chatFromUnified(
  reply: JsonObject,
  call: Pick<ProviderCall, 'body' | 'surface'>,
  facts: ReplyFacts,
): JsonObject {
  const message = isJsonObject(reply.output) ? reply.output.message : undefined
  const blocks = isJsonObject(message) ? message.content : undefined
  if (!Array.isArray(blocks)) throw malformedReply('output.message.content is not an array')
  let content = ''
  const toolCalls: ChatToolCall[] = []
  const reasoning: JsonObject[] = []
  const images: JsonObject[] = []
  const citations: JsonValue[] = []
  /** Blocks without a chat completion counterpart. */
  const others: JsonObject[] = []
  for (const block of blocks) {
    if (!isJsonObject(block)) continue
    const { text, citationsContent, toolUse, toolResult, reasoningContent, image } = block
    if (typeof text === 'string') {
      content += text
    } else if (isJsonObject(citationsContent)) {
      content += citedText(citationsContent)
      if (Array.isArray(citationsContent.citations)) citations.push(...citationsContent.citations)
    } else if (isJsonObject(toolUse)) {
      if (isServerTool(toolUse)) continue
      const { toolUseId, name, input } = toolUse
      toolCalls.push({ id: toolCallId(toolUseId), name: facts.names.asked(String(name)), input })
    } else if (isJsonObject(reasoningContent)) {
      const read = reasoningBlock(reasoningContent)
      if (read !== undefined) reasoning.push(read)
    } else if (toolResult === undefined) {
      const shown = isJsonObject(image) ? imagePart(image.format, bytesOf(image)) : undefined
      if (shown === undefined) others.push(block)
      else images.push(shown)
    }
  }
  const metadata = {
    ...(reasoning.length === 0 ? {} : { reasoning: { source: 'unified', blocks: reasoning } }),
    ...(citations.length === 0 ? {} : { citations }),
    ...(others.length === 0 ? {} : { content: others }),
    ...keptFacts(reply),
  }
  return chatReply(call, {
    id: facts.id,
    providerModel: facts.model,
    content,
    images,
    toolCalls,
    providerMetadata: Object.keys(metadata).length === 0 ? undefined : providerMetadata(metadata),
    finishReason: finishReason(reply.stopReason),
    usage: usageFromConverse(reply),
  })
}

/** An image's bytes as base64; undefined if it is in S3, or failed. */
export function bytesOf({ source }: JsonObject): string | undefined {
  return isJsonObject(source) && typeof source.bytes === 'string' ? source.bytes : undefined
}

/** With citations, the text is inside a separate block. */
function citedText({ content }: JsonObject): string {
  return (Array.isArray(content) ? content : [])
    .map((part) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : ''))
    .join('')
}

function reasoningBlock({ reasoningText, redactedContent }: JsonObject): JsonObject | undefined {
  if (isJsonObject(reasoningText)) {
    const { text, signature } = reasoningText
    return {
      type: 'reasoning_text',
      text: text ?? '',
      ...(typeof signature === 'string' && signature !== '' ? { signature } : {}),
    }
  }
  return typeof redactedContent === 'string'
    ? { type: 'redacted_reasoning', data: redactedContent }
    : undefined
}
