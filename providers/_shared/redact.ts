import { isJsonObject, type JsonValue } from 'model-gateway/plugin'
import { credentialForms, maskForms, type StreamEvent, streamEvent } from 'model-gateway/wire'

/** Masks the call's credentials in an upstream's message. */
export type Redact = (text: string) => string

/** Headers that authenticate, if configured: `api-key`. */
const CREDENTIAL_HEADER = /(?:^|-)(?:authorization|cookie|key|password|secret|token)$/

/**
 * `credentials` are header values that the upstream may repeat; of the `configured` headers (names
 * in lower case), those with the name of a credential.
 */
export function createRedact(
  credentials: readonly string[],
  configured: Readonly<Record<string, string>> = {},
): Redact {
  return (text) => {
    const named = Object.keys(configured).filter((name) => CREDENTIAL_HEADER.test(name))
    const sent = [...credentials, ...named.map((name) => configured[name] as string)]
    return maskForms(text, credentialForms(sent))
  }
}

/** The same value unless an error in it, at any depth, repeats a credential. */
export function redactErrors(value: JsonValue, redact: Redact): JsonValue {
  if (isJsonObject(value) && value.type === 'error') return redactStrings(value, redact)
  return mapMembers(value, (member, name) =>
    name === 'error' ? redactStrings(member, redact) : redactErrors(member, redact),
  )
}

/** The same value unless a text in it repeats a credential. */
export function redactStrings(value: JsonValue, redact: Redact): JsonValue {
  if (typeof value === 'string') return redact(value)
  return mapMembers(value, (member) => redactStrings(member, redact))
}

/** A copy with changed members; the same value if none changed. */
function mapMembers(
  value: JsonValue,
  map: (member: JsonValue, name: string) => JsonValue,
): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  let changed = false
  const mapped = Object.entries(value).map(([name, member = null]): [string, JsonValue] => {
    const other = map(member, name)
    if (other !== member) changed = true
    return [name, other]
  })
  if (!changed) return value
  return Array.isArray(value) ? mapped.map(([, member]) => member) : Object.fromEntries(mapped)
}

/** An upstream's events, with credentials masked in error events. */
export function redactErrorEvents(
  events: AsyncIterable<readonly StreamEvent[]>,
  redact: Redact,
): AsyncIterableIterator<readonly StreamEvent[]> {
  const source = events[Symbol.asyncIterator]()
  const redactBatch = (step: IteratorResult<readonly StreamEvent[]>) =>
    step.done === true || !step.value.some(mayBeError)
      ? step
      : { ...step, value: step.value.map((event) => redactEvent(event, redact)) }
  return {
    // Not a generator, because that costs more turns per batch.
    next: () => source.next().then(redactBatch),
    async return() {
      await source.return?.()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** A quick check of JSON text. Quotes inside a string are escaped, so reply texts do not match. */
export function mayNameError(json: string): boolean {
  return json.includes('"error"')
}

function mayBeError({ event, data }: StreamEvent): boolean {
  return event === 'error' || mayNameError(data) || STRAY.test(data)
}

/** An object that begins with `message` is a failure, not an event. */
const STRAY = /^\s*\{\s*"(?:[Mm]essage|detail|msg|reason)"\s*:/

function redactEvent(event: StreamEvent, redact: Redact): StreamEvent {
  if (!mayBeError(event)) return event
  let value: JsonValue
  try {
    value = event.json()
  } catch {
    // The reader of the stream refuses it, without quoting it.
    return event
  }
  const redacted =
    event.event === 'error' || STRAY.test(event.data)
      ? redactStrings(value, redact)
      : redactErrors(value, redact)
  return redacted === value ? event : streamEvent(JSON.stringify(redacted), event.event)
}
