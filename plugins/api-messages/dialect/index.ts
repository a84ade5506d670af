import type { Dialect } from 'model-gateway/surface'
import { collectMessage, tellMessage } from './collect.ts'
import { messageRefusal } from './refusal.ts'
import { readMessage } from './reply.ts'
import { createNativeStream, textOfEvent } from './stream.ts'
import { earlierToolUses, madeToolUses } from './views.ts'

/** Anthropic's messages dialect, for callers and upstreams. */
export const messagesDialect = {
  id: 'messages',
  readReply: readMessage,
  streaming: {
    open: createNativeStream,
    collect: collectMessage,
    tell: tellMessage,
    textOf: textOfEvent,
  },
  refusal: messageRefusal,
  views: { madeToolCalls: madeToolUses, earlierToolCalls: earlierToolUses },
} as const satisfies Dialect
