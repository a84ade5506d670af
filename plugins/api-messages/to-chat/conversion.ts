import type { Conversion } from 'model-gateway/surface'
import { convertOnce } from '../../_shared/convert-once.ts'
import { messagesCall } from './call.ts'
import { messagesReply } from './reply.ts'
import type { MessagesRequest } from './request.ts'
import { createMessagesStream } from './stream.ts'

/** Calls of the messages API on routes that execute chat completions. */
export const messagesToChat: Conversion<MessagesRequest> = {
  from: 'messages',
  to: 'chat_completions',
  request: (request) => convertOnce((route) => messagesCall(request, route)),
  reply: messagesReply,
  stream: createMessagesStream,
}
