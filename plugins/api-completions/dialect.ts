import type { JsonObject } from 'model-gateway/plugin'
import type { Dialect, ReplyIdentity } from 'model-gateway/surface'
import { readChatUsage, type Usage } from 'model-gateway/wire'
import { memberTexts } from '../_shared/member-texts.ts'
import { replyList, replyObject } from '../_shared/reply-list.ts'
import { collectCompletion, tellCompletion } from './collect.ts'
import { envelope } from './shape.ts'
import { createCompletionsStream, textOfChunk } from './stream.ts'

export const COMPLETIONS = 'completions'

/** Completions of a text: https://platform.openai.com/docs/api-reference/completions */
export const completions: Dialect = {
  id: COMPLETIONS,
  readReply(value) {
    const body = replyObject(value)
    const usage = readChatUsage(body.usage, body.service_tier)
    replyList(body, ['choices'], usage)
    return { usage, invokedToolCount: undefined }
  },
  streaming: {
    open: createCompletionsStream,
    collect: collectCompletion,
    tell: tellCompletion,
    textOf: textOfChunk,
  },
  views: {
    promptTexts: (body) => memberTexts(body, ['prompt', 'suffix']),
  },
  refusal: completionRefusal,
}

/** A completion that a filter stopped, with the reason as its text. */
function completionRefusal(
  text: string,
  usage: Usage | undefined,
  { publicModel }: ReplyIdentity,
): JsonObject {
  return {
    ...envelope(publicModel),
    choices: [{ index: 0, text, logprobs: null, finish_reason: 'content_filter' }],
    ...(usage !== undefined && { usage: completionUsage(usage) }),
  }
}

function completionUsage({ promptTokens, output, totalTokens }: Usage): JsonObject {
  const prompt_tokens = promptTokens ?? 0
  const completion_tokens = output ?? 0
  const total_tokens = totalTokens ?? prompt_tokens + completion_tokens
  return { prompt_tokens, completion_tokens, total_tokens }
}
