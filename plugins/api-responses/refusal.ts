import type { JsonObject } from 'model-gateway/plugin'
import type { ReplyIdentity } from 'model-gateway/surface'
import type { Usage } from 'model-gateway/wire'

/**
 * A completed response with the text twice: as a message, and then as a refusal, which programs
 * look for. Two items, because Codex ignores a message that contains a refusal.
 */
export function responsesRefusal(
  text: string,
  usage: Usage | undefined,
  { publicModel }: ReplyIdentity,
): JsonObject {
  const now = Math.floor(Date.now() / 1000)
  const said = [
    { type: 'output_text', text, annotations: [], logprobs: [] },
    { type: 'refusal', refusal: text },
  ]
  return {
    id: `resp_${crypto.randomUUID()}`,
    object: 'response',
    created_at: now,
    completed_at: now,
    status: 'completed',
    error: null,
    incomplete_details: null,
    model: publicModel,
    output: said.map((part) => ({
      id: `msg_${crypto.randomUUID()}`,
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [part],
    })),
    ...(usage !== undefined && { usage: responsesUsage(usage) }),
  }
}

function responsesUsage(usage: Usage): JsonObject {
  const { promptTokens, totalTokens, cacheRead = 0, output, reasoning = 0 } = usage
  const input_tokens = promptTokens ?? 0
  const output_tokens = output ?? 0
  return {
    input_tokens,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: totalTokens ?? input_tokens + output_tokens,
  }
}
