import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import type { ProviderCall } from 'model-gateway/provider'
import { replyId } from './reply-ids.ts'

export interface ChatToolCall {
  readonly id: string
  readonly name: string
  readonly input: JsonValue | undefined
}

export interface ChatReplyParts {
  /** The upstream's id, if present. */
  readonly id: JsonValue | undefined
  /** The upstream's model name. */
  readonly providerModel: JsonValue | undefined
  readonly content: string | null
  /** Parts of the type `image_url`: next to the content, where clients expect them. */
  readonly images?: readonly JsonObject[]
  readonly toolCalls: readonly ChatToolCall[]
  readonly providerMetadata: JsonObject | undefined
  readonly finishReason: string
  readonly usage: JsonObject | undefined
}

/** A chat completion with one choice. */
export function chatReply(
  call: Pick<ProviderCall, 'body' | 'surface'>,
  parts: ChatReplyParts,
): JsonObject {
  const { id, providerModel, images = [], toolCalls, providerMetadata, usage } = parts
  return {
    id: replyId(call, id),
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: call.body.model ?? null,
    ...(typeof providerModel === 'string' ? { provider_model: providerModel } : {}),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: parts.content,
          ...(images.length === 0 ? {} : { images: [...images] }),
          ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(toolCall) }),
          ...(providerMetadata === undefined ? {} : { provider_metadata: providerMetadata }),
        },
        finish_reason: parts.finishReason,
      },
    ],
    ...(usage === undefined ? {} : { usage }),
  }
}

function toolCall({ id, name, input }: ChatToolCall): JsonObject {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input ?? {}) } }
}
