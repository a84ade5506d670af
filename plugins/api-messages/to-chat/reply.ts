import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ReplyIdentity } from 'model-gateway/surface'
import { argumentsOf, said, textOf, toolInput, type Usage } from 'model-gateway/wire'
import { messagesUsage } from '../_shared/usage.ts'
import { thinkingBlocks } from './thoughts.ts'

/** Converts a chat completion to a messages reply. The chat reply is valid: it has `choices`. */
export function messagesReply(
  reply: JsonObject,
  usage: Usage | undefined,
  identity: ReplyIdentity,
): JsonObject {
  const choice = Array.isArray(reply.choices) ? reply.choices[0] : undefined
  const message = isJsonObject(choice) && isJsonObject(choice.message) ? choice.message : {}
  const content = thinkingBlocks(message)
  const text = textOf(message)
  if (text !== '') content.push({ type: 'text', text })
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isJsonObject) : []
  for (const [k, call] of calls.entries()) {
    const fn = isJsonObject(call.function) ? call.function : {}
    content.push({
      type: 'tool_use',
      id: said(call.id) ?? toolUseId(identity, k),
      name: said(fn.name) ?? '',
      input: toolInput(argumentsOf(fn)),
    })
  }
  const finish = isJsonObject(choice) ? choice.finish_reason : undefined
  return {
    ...envelope(reply.id, identity),
    content,
    stop_reason: stopReason(finish, calls.length > 0),
    stop_sequence: null,
    usage: messagesUsage(usage),
  }
}

/** Members that whole and streamed messages share. */
export function envelope(id: JsonValue | undefined, identity: ReplyIdentity): JsonObject {
  return {
    id: said(id) ?? `msg_${safeId(identity)}`,
    type: 'message',
    role: 'assistant',
    model: identity.publicModel,
  }
}

/** An id for the `k`th tool call, if the upstream sent none. */
export function toolUseId(identity: ReplyIdentity, k: number): string {
  return `toolu_${safeId(identity)}_${k}`
}

function safeId({ requestId }: ReplyIdentity): string {
  return requestId.replace(/[^\w-]/g, '_')
}

/** Some upstreams send `stop` with tool calls if a tool was forced. */
export function stopReason(finish: JsonValue | undefined, callsTools: boolean): string {
  switch (finish) {
    case 'length':
      return 'max_tokens'
    case 'tool_calls':
      return 'tool_use'
    case 'content_filter':
      return 'refusal'
    default:
      return callsTools ? 'tool_use' : 'end_turn'
  }
}
