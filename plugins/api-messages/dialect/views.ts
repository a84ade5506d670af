import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { GuardToolCalls } from 'model-gateway/surface'
import { toolInput } from 'model-gateway/wire'
import { isToolUse } from './reply.ts'

type GuardedToolCall = GuardToolCalls['calls'][number]

/** Tool calls of a message, including hosted ones. */
export function madeToolUses(message: JsonObject): GuardToolCalls {
  const content = Array.isArray(message.content) ? message.content : []
  const calls = content.filter(isToolUse).map(callOf)
  return {
    calls,
    replace(others) {
      let at = 0
      return {
        ...message,
        content: content.map((block) =>
          isToolUse(block) ? rewritten(block, others[at++]?.arguments) : block,
        ),
      }
    },
  }
}

/** Tool calls of earlier turns in a request, in order. */
export function earlierToolUses({ messages }: JsonObject): readonly GuardedToolCall[] {
  const turns = Array.isArray(messages) ? messages : []
  return turns.flatMap((turn) => (isJsonObject(turn) ? madeToolUses(turn).calls : []))
}

function callOf({ name, input }: JsonObject): GuardedToolCall {
  return { tool: typeof name === 'string' ? name : '', arguments: JSON.stringify(input ?? {}) }
}

function rewritten(block: JsonObject, written: string | undefined): JsonValue {
  const unchanged = written === undefined || written === callOf(block).arguments
  return unchanged ? block : { ...block, input: toolInput(written) }
}
