import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import { type StreamEvent, streamEvent } from 'model-gateway/wire'

export const DONE = '[DONE]'

export function doneEvent(): StreamEvent {
  return streamEvent(DONE)
}

/** An event with other data. */
export function withData(event: StreamEvent, data: string): StreamEvent {
  return data === event.data ? event : streamEvent(data, event.event)
}

/** Members of each completion. */
export function envelope(model: string, id?: string): JsonObject {
  return {
    id: id ?? `cmpl-${crypto.randomUUID()}`,
    object: 'text_completion',
    created: Math.floor(Date.now() / 1000),
    model,
  }
}

/** The choices of a reply or chunk, without invalid ones. */
export function choicesOf({ choices }: JsonObject): readonly JsonObject[] {
  return Array.isArray(choices) ? choices.filter(isJsonObject) : []
}
