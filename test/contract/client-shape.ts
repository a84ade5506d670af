import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { StreamEvent } from 'model-gateway/wire'

const listOf = (value: JsonValue | undefined): readonly JsonValue[] =>
  Array.isArray(value) ? value : []
const objectOf = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {})

/** What official clients would trip over in a whole chat reply, in words. */
export function completionFaults({ choices }: JsonObject): string[] {
  return listOf(choices).flatMap((each, index) => {
    const { message, finish_reason } = objectOf(each)
    const wrong: string[] = []
    if (objectOf(message).role !== 'assistant') wrong.push('its message has no role "assistant"')
    if (typeof finish_reason !== 'string') wrong.push('it has no finish_reason')
    return wrong.map((fault) => `choice ${index}: ${fault}`)
  })
}

/** The same of a streamed one: what a client puts together begins with a role, and it ends. */
export function chunkFaults(events: readonly StreamEvent[]): string[] {
  const begun = new Set<JsonValue>()
  const ended = new Set<JsonValue>()
  const wrong: string[] = []
  for (const event of events) {
    if (event.data === '[DONE]') continue
    for (const each of listOf(objectOf(event.json()).choices)) {
      const { index = 0, delta, finish_reason } = objectOf(each)
      if (!begun.has(index) && objectOf(delta).role !== 'assistant') {
        wrong.push(`choice ${index}: its first delta has no role "assistant"`)
      }
      begun.add(index)
      if (typeof finish_reason === 'string') ended.add(index)
    }
  }
  const open = [...begun].filter((index) => !ended.has(index))
  return [...wrong, ...open.map((index) => `choice ${index}: it has no finish_reason`)]
}
