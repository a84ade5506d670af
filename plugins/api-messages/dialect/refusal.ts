import type { JsonObject } from 'model-gateway/plugin'
import type { ReplyIdentity } from 'model-gateway/surface'
import type { Usage } from 'model-gateway/wire'
import { messagesUsage } from '../_shared/usage.ts'

/** A guard's message that replaces the model's. */
export function messageRefusal(
  text: string,
  usage: Usage | undefined,
  { publicModel }: ReplyIdentity,
): JsonObject {
  return {
    id: `msg_${crypto.randomUUID()}`,
    type: 'message',
    role: 'assistant',
    model: publicModel,
    content: [{ type: 'text', text }],
    stop_reason: 'refusal',
    stop_sequence: null,
    usage: messagesUsage(usage),
  }
}
