import type { JsonObject } from 'model-gateway/plugin'
import type { Dialect, ReplyIdentity } from 'model-gateway/surface'
import { streamEvent, type Usage } from 'model-gateway/wire'
import { usageMetadata } from '../_shared/usage.ts'
import { readGenerated } from './reply.ts'
import { collectGenerated, createGeneratedStream, textOfResponse } from './stream.ts'
import { earlierCalls, madeCalls, promptTexts, replyTexts } from './views.ts'

/** Google's generateContent dialect, for callers and upstreams. */
export const googleDialect = {
  id: 'google',
  readReply: readGenerated,
  // `modelVersion` is the model that answered, not the requested name.
  namesModel: false,
  streaming: {
    open: createGeneratedStream,
    collect: collectGenerated,
    tell: (reply: JsonObject) => [streamEvent(JSON.stringify(reply))],
    textOf: textOfResponse,
  },
  refusal,
  views: { promptTexts, replyTexts, madeToolCalls: madeCalls, earlierToolCalls: earlierCalls },
} as const satisfies Dialect

/** A denial as a turn that a filter stopped. */
function refusal(
  text: string,
  usage: Usage | undefined,
  { publicModel, requestId }: ReplyIdentity,
): JsonObject {
  const counters = usageMetadata(usage)
  return {
    candidates: [
      { content: { role: 'model', parts: [{ text }] }, finishReason: 'SAFETY', index: 0 },
    ],
    ...(counters && { usageMetadata: counters }),
    modelVersion: publicModel,
    responseId: requestId,
  }
}
