import type { JsonObject } from 'model-gateway/plugin'
import type { ReplyIdentity } from 'model-gateway/surface'
import type { Usage } from 'model-gateway/wire'

/**
 * A completion that a filter stopped. The text is its `content`, because many clients ignore the
 * member `refusal`, and others treat it as a failed call.
 */
export function chatRefusal(
  text: string,
  usage: Usage | undefined,
  { publicModel }: ReplyIdentity,
): JsonObject {
  const message = { role: 'assistant', content: text, refusal: null }
  return {
    id: `chatcmpl-${crypto.randomUUID()}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: publicModel,
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'content_filter' }],
    ...(usage !== undefined && { usage: chatUsage(usage) }),
  }
}

function chatUsage({ promptTokens, totalTokens, cacheRead, output }: Usage): JsonObject {
  const prompt_tokens = promptTokens ?? 0
  const completion_tokens = output ?? 0
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: totalTokens ?? prompt_tokens + completion_tokens,
    ...(cacheRead !== undefined && { prompt_tokens_details: { cached_tokens: cacheRead } }),
  }
}
