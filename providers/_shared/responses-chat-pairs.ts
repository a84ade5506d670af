import type { JsonObject } from 'model-gateway/plugin'
import { createUniqueIds, NO_RESULT, UNKNOWN_TOOL } from './chat-turns.ts'

/**
 * The items with a result for each call, a call for each result, and unique ids per pair. Otherwise
 * the service refuses: "No tool output found for function call", "No tool call found for function
 * call output", "Duplicate function_call_output for call_id".
 */
export function pairCalls(items: readonly JsonObject[]): JsonObject[] {
  const unique = createUniqueIds()
  /** Calls without a result so far, by id in the conversation. */
  const open = new Map<string, JsonObject[]>()
  const paired: JsonObject[] = []
  for (const item of items) {
    const asked = String(item.call_id)
    if (isCall(item)) {
      const call = { ...item, call_id: unique(asked) }
      open.set(asked, [...(open.get(asked) ?? []), call])
      paired.push(call)
    } else if (item.type === 'function_call_output') {
      const known = open.get(asked)?.shift()
      const call = known ?? lostCall(unique(asked))
      if (known === undefined) paired.push(call)
      paired.push({ ...item, ...answerTo(call) })
    } else {
      paired.push(item)
    }
  }
  const unanswered = new Set([...open.values()].flat())
  return paired.flatMap((item) =>
    unanswered.has(item) ? [item, { ...answerTo(item), output: NO_RESULT }] : [item],
  )
}

/** Whether an item calls a tool of the caller. */
export function isCall({ type }: JsonObject): boolean {
  return type === 'function_call' || type === 'custom_tool_call'
}

/** Replaces a call that is missing in the conversation. */
function lostCall(call_id: string): JsonObject {
  return { type: 'function_call', call_id, name: UNKNOWN_TOOL, arguments: '{}' }
}

function answerTo({ type, call_id }: JsonObject): JsonObject {
  return { type: `${String(type)}_output`, call_id }
}
