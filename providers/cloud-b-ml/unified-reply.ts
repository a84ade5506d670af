import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import type { ProviderCall } from 'model-gateway/provider'
import { type ChatToolCall, chatReply } from '../_shared/chat-reply.ts'
import { usageFromConverse } from '../_shared/chat-usage.ts'
import { finishReason } from '../_shared/finish-reason.ts'
import { malformedReply } from '../_shared/malformed-reply.ts'
import { toolCallId } from '../_shared/reply-ids.ts'
import type { ToolNames } from '../_shared/tool-names.ts'
import { additionalFields, providerMetadata } from './metadata.ts'
import { isServerTool } from './unified-tools.ts'

/** What is known of a reply beside its body. */
export interface ReplyFacts {
  readonly id: string | undefined
  readonly model: string
  /** The names under which the tools were sent. */
  readonly names: ToolNames
}

/**
 * A Converse reply as a chat completion, `usage` included. Throws GatewayError
 * `upstream_transport` when it is no such reply.
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
  for (const block of blocks) {
    if (!isJsonObject(block)) continue
    const { text, citationsContent, toolUse, reasoningContent } = block
    if (typeof text === 'string') {
      content += text
    } else if (isJsonObject(citationsContent)) {
      content += citedText(citationsContent)
    } else if (isJsonObject(toolUse)) {
      if (isServerTool(toolUse)) continue
      const { toolUseId, name, input } = toolUse
      toolCalls.push({ id: toolCallId(toolUseId), name: facts.names.asked(String(name)), input })
    } else if (isJsonObject(reasoningContent)) {
      const read = reasoningBlock(reasoningContent)
      if (read !== undefined) reasoning.push(read)
    }
  }
  const more = additionalFields(reply)
  return chatReply(call, {
    id: facts.id,
    providerModel: facts.model,
    content,
    toolCalls,
    providerMetadata:
      reasoning.length === 0 && more === undefined
        ? undefined
        : providerMetadata({
            ...(reasoning.length === 0
              ? {}
              : { reasoning: { source: 'unified', blocks: reasoning } }),
            ...more,
          }),
    finishReason: finishReason(reply.stopReason),
    usage: usageFromConverse(reply.usage),
  })
}

/** With citations a text has a block of its own around it. */
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
