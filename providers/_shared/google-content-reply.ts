import type { JsonObject } from 'model-gateway/plugin'
import type { ProviderCall } from 'model-gateway/provider'
import { type Candidate, isPromptBlocked, readCandidates } from './google-content-candidate.ts'
import { endingOf } from './google-content-finish.ts'
import { countedByGoogle, usageFromGoogle } from './google-content-usage.ts'
import { malformedReply } from './malformed-reply.ts'
import { replyId } from './reply-ids.ts'

/**
 * A GenerateContentResponse as a chat completion. A prompt that was refused is one empty choice.
 * Throws GatewayError `upstream_transport` for a reply that is none, with the usage
 * it states and with `billingModifiers`.
 */
export function chatFromGoogle(
  reply: JsonObject,
  call: Pick<ProviderCall, 'body' | 'surface'>,
  billingModifiers?: readonly string[],
): JsonObject {
  const candidates = readCandidates(reply)
  if (candidates.length === 0 && !isPromptBlocked(reply)) {
    const counted = countedByGoogle(reply.usageMetadata)
    throw malformedReply('it has no candidates', counted, billingModifiers)
  }
  const usage = usageFromGoogle(reply.usageMetadata)
  return {
    id: replyId(call, reply.responseId),
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: call.body.model ?? null,
    ...(typeof reply.modelVersion === 'string' ? { provider_model: reply.modelVersion } : {}),
    choices: candidates.length === 0 ? [refusal] : candidates.map(choice),
    ...(usage === undefined ? {} : { usage }),
  }
}

const refusal: JsonObject = {
  index: 0,
  message: { role: 'assistant', content: '' },
  finish_reason: 'content_filter',
}

function choice({ index, parts, logprobs, finishReason }: Candidate): JsonObject {
  let text = ''
  const called: JsonObject[] = []
  const thoughts: JsonObject[] = []
  for (const part of parts) {
    if (part.kind === 'text') text += part.text
    else if (part.kind === 'thought') thoughts.push(part.block)
    else called.push(part.call)
  }
  const ending = endingOf(finishReason, called)
  const toolCalls = [...ending.calls]
  return {
    index,
    message: {
      role: 'assistant',
      content: text === '' && toolCalls.length > 0 ? null : text,
      ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
      ...(thoughts.length === 0
        ? {}
        : {
            provider_metadata: {
              cloud_a_ml: { reasoning: { source: 'google_content', blocks: thoughts } },
            },
          }),
    },
    ...(logprobs === undefined ? {} : { logprobs }),
    finish_reason: ending.finishReason,
  }
}
