import type { JsonValue } from 'model-gateway/plugin'
import type { ProviderCall } from 'model-gateway/provider'

type Call = Pick<ProviderCall, 'surface'>

/** The upstream's id, or one of ours in the style of the API that the caller speaks. */
export function replyId(call: Call, id: JsonValue | undefined): string {
  return given(id) ?? ownReplyId(call, crypto.randomUUID())
}

/** An id made of what tells this reply from all others. */
export function ownReplyId({ surface }: Call, unique: string): string {
  return surface === 'messages' ? `msg_${unique}` : `chatcmpl-${unique}`
}

/** The upstream's id of a tool call, or one of ours: the caller's result has to name one. */
export function toolCallId(id: JsonValue | undefined): string {
  return given(id) ?? `call_${crypto.randomUUID()}`
}

function given(id: JsonValue | undefined): string | undefined {
  return typeof id === 'string' && id !== '' ? id : undefined
}
