import type { ProviderCall, ProviderResult } from 'model-gateway/provider'
import { readEventStream, readJsonReply, type UpstreamResponse } from './compat-http.ts'
import { exactReply } from './exact-reply.ts'
import type { MessagesDialect } from './messages-dialect.ts'
import { chatFromMessages } from './messages-reply.ts'
import type { MessagesRequest } from './messages-request.ts'
import { chatChunksFromMessages } from './messages-stream.ts'

/**
 * Converts the reply of the messages API to a chat completion or its chunks. Throws GatewayError
 * for a reply of another kind.
 */
export async function messagesResult(
  response: UpstreamResponse,
  call: ProviderCall,
  { providerType }: MessagesDialect,
  { billingModifiers, names }: Pick<MessagesRequest, 'billingModifiers' | 'names'>,
): Promise<ProviderResult> {
  if (call.stream) {
    const events = chatChunksFromMessages(
      await readEventStream(response),
      call,
      providerType,
      names,
    )
    return { kind: 'stream', events, billingModifiers }
  }
  const reply = exactReply(await readJsonReply(response))
  const body = chatFromMessages(reply, call, providerType, names)
  return { kind: 'buffered', body, billingModifiers }
}
