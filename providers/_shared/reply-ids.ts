import type { JsonValue } from 'model-gateway/plugin'
import type { ProviderCall } from 'model-gateway/provider'

type Call = Pick<ProviderCall, 'surface'>

/** The upstream's id, or a generated one in the style of the caller's API. */
export function replyId(call: Call, id: JsonValue | undefined): string {
  return given(id) ?? ownReplyId(call, crypto.randomUUID())
}

/** An id derived from what identifies the reply. */
export function ownReplyId({ surface }: Call, unique: string): string {
  return surface === 'messages' ? `msg_${unique}` : `chatcmpl-${unique}`
}

/** The upstream's id of a tool call, or a generated one, because the result must refer to it. */
export function toolCallId(id: JsonValue | undefined): string {
  return given(id) ?? `call_${crypto.randomUUID()}`
}

function given(id: JsonValue | undefined): string | undefined {
  return typeof id === 'string' && id !== '' ? id : undefined
}
