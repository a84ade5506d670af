import type { JsonValue } from './json.ts'

/** One server-sent event, as read from an upstream or made by a provider. */
export interface StreamEvent {
  /** The `event:` field. */
  readonly event: string | undefined
  /** The `data:` lines, joined by a newline. */
  readonly data: string
  /** The exact text including its blank line; absent if the event did not arrive as text. */
  readonly raw: string | undefined
  /** `data`, parsed once. Throws SyntaxError if it is not JSON. */
  json(): JsonValue
}

class LazyEvent implements StreamEvent {
  readonly event: string | undefined
  readonly data: string
  readonly raw: string | undefined
  #json: JsonValue | undefined
  constructor(data: string, event: string | undefined, raw: string | undefined) {
    this.data = data
    this.event = event
    this.raw = raw
  }
  json(): JsonValue {
    if (this.#json === undefined) this.#json = JSON.parse(this.data) as JsonValue
    return this.#json
  }
}

export function streamEvent(data: string, event?: string, raw?: string): StreamEvent {
  return new LazyEvent(data, event, raw)
}
