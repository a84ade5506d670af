import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { DialectStream, ReplyIdentity } from 'model-gateway/surface'
import { readChatUsage, type StreamEvent, textOf } from 'model-gateway/wire'
import { messagesUsage } from '../_shared/usage.ts'
import { envelope, stopReason, toolUseId } from './reply.ts'
import { thoughtsOf } from './thoughts.ts'
import { createBlockWriter, messagesEvent } from './writer.ts'

/**
 * Converts a checked chat completions stream to events of the messages API. `message_delta` and
 * `message_stop` end it; a failed stream sends all events before the failure, and blocks stay open.
 */
export function createMessagesStream(chat: DialectStream, identity: ReplyIdentity): DialectStream {
  const writer = createBlockWriter((k) => toolUseId(identity, k))
  let start: StreamEvent | undefined
  let finish: JsonValue | undefined
  let counters: JsonObject | undefined
  let terminal: readonly StreamEvent[] = []

  function read(event: StreamEvent, out: StreamEvent[]): void {
    const chunk = event.json()
    // An error of the upstream ends the stream as a failure.
    if (!isJsonObject(chunk) || chat.outcome === 'failed') return
    if (isJsonObject(chunk.usage)) counters = most(counters, chunk.usage)
    const choices = Array.isArray(chunk.choices) ? chunk.choices : []
    const choice = choices.find((each) => isJsonObject(each) && (each.index ?? 0) === 0)
    if (!isJsonObject(choice)) return
    if (start === undefined) {
      start = messageStart(chunk.id)
      out.push(start)
    }
    if (isJsonObject(choice.delta)) readDelta(choice.delta)
    if (typeof choice.finish_reason === 'string') {
      finish = choice.finish_reason
      writer.close()
    }
    out.push(...writer.take())
  }

  function messageStart(id: JsonValue | undefined): StreamEvent {
    return messagesEvent('message_start', {
      message: {
        ...envelope(id, identity),
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: messagesUsage(readChatUsage(counters)),
      },
    })
  }

  function readDelta(delta: JsonObject): void {
    for (const thought of thoughtsOf(delta)) {
      if (thought.kind === 'text') writer.thinking(thought.text)
      else if (thought.kind === 'signature') writer.signature(thought.signature)
      else writer.redacted(thought.data)
    }
    const text = textOf(delta)
    if (text !== '') writer.text(text)
    if (!Array.isArray(delta.tool_calls)) return
    for (const [position, call] of delta.tool_calls.entries()) {
      if (isJsonObject(call)) writer.toolCall(call.index ?? position, call)
    }
  }

  function completeWithChat(): void {
    if (chat.outcome !== 'complete') return
    writer.close()
    const delta = { stop_reason: stopReason(finish, writer.callsTools), stop_sequence: null }
    terminal = [
      ...(start === undefined ? [messageStart(undefined)] : []),
      ...writer.take(),
      messagesEvent('message_delta', { delta, usage: messagesUsage(readChatUsage(counters)) }),
      messagesEvent('message_stop', {}),
    ]
  }

  return {
    push(batch) {
      const out: StreamEvent[] = []
      if (chat.outcome !== 'open') return out
      // One at a time, because the outcome depends on the last one.
      for (const event of batch) {
        for (const normalised of chat.push([event])) read(normalised, out)
      }
      completeWithChat()
      return out
    },
    end() {
      if (chat.outcome !== 'open') return
      chat.end()
      completeWithChat()
    },
    get outcome() {
      return chat.outcome
    },
    get terminal() {
      return terminal
    },
    get failure() {
      return chat.failure && { ...chat.failure, forwarded: false }
    },
    get usage() {
      return chat.usage
    },
    get invokedToolCount() {
      return chat.invokedToolCount
    },
  }
}

/** Repeated counters only grow, so the greater one is the newer. */
function most(known: JsonObject | undefined, stated: JsonObject): JsonObject {
  const merged: JsonObject = { ...known }
  for (const [name, value] of Object.entries(stated)) {
    const before = merged[name]
    if (typeof value === 'number' && typeof before === 'number') {
      merged[name] = Math.max(before, value)
    } else if (isJsonObject(value)) {
      merged[name] = most(isJsonObject(before) ? before : undefined, value)
    } else if (value !== null || before === undefined) {
      merged[name] = value
    }
  }
  return merged
}
