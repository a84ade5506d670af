import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import type { ProviderCall } from 'model-gateway/provider'
import { type ChatToolCall, chatReply } from './chat-reply.ts'
import { usageFromMessages } from './chat-usage.ts'
import { finishReason } from './finish-reason.ts'
import { malformedReply } from './malformed-reply.ts'
import type { MessagesDialect } from './messages-dialect.ts'
import { toolCallId } from './reply-ids.ts'
import type { ToolNames } from './tool-names.ts'

/**
 * Converts a reply of the messages API to a chat completion, with `usage`. Throws GatewayError
 * `upstream_transport` for a malformed reply.
 */
export function chatFromMessages(
  reply: JsonObject,
  call: Pick<ProviderCall, 'body' | 'surface'>,
  providerType: MessagesDialect['providerType'],
  names: ToolNames,
): JsonObject {
  if (!Array.isArray(reply.content)) throw malformedReply('content is not an array')
  let content = ''
  const toolCalls: ChatToolCall[] = []
  const reasoning: JsonObject[] = []
  for (const block of reply.content) {
    if (!isJsonObject(block)) continue
    switch (block.type) {
      case 'text':
        if (typeof block.text === 'string') content += block.text
        break
      case 'tool_use':
        toolCalls.push({
          id: toolCallId(block.id),
          name: names.asked(String(block.name)),
          input: block.input,
        })
        break
      case 'thinking':
      case 'redacted_thinking':
        reasoning.push(reasoningBlock(block))
        break
    }
  }
  return chatReply(call, {
    id: reply.id,
    providerModel: reply.model,
    content,
    toolCalls,
    providerMetadata:
      reasoning.length === 0
        ? undefined
        : { [providerType]: { reasoning: { source: 'anthropic_messages', blocks: reasoning } } },
    finishReason: finishReason(reply.stop_reason),
    usage: usageFromMessages(reply.usage),
  })
}

function reasoningBlock({ type, thinking, signature, data }: JsonObject): JsonObject {
  if (type === 'redacted_thinking') return { type, data: data ?? '' }
  return {
    type,
    thinking: thinking ?? '',
    ...(typeof signature === 'string' && signature !== '' ? { signature } : {}),
  }
}
