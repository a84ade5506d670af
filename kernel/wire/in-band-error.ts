import { plainWords, safeUpstreamMessage } from '../plugin/errors.ts'
import type { JsonObject, JsonValue } from '../plugin/json.ts'
import type { StreamEvent } from '../plugin/stream.ts'
import type { StreamFailure } from '../plugin/surface.ts'
import { withData } from './dialect-stream.ts'
import { readErrorWords } from './error-words.ts'
import { isPresent } from './is-present.ts'
import { setMembers } from './json-splice.ts'

/**
 * An error that the upstream sent as an event: what it says, and the event to forward, which is
 * the same unless credentials had to be masked. The error is the member `error` of the object at
 * `path`, or without it that object itself.
 */
export function readInBandError(
  event: StreamEvent,
  owner: JsonObject,
  path: readonly string[],
): { event: StreamEvent; failure: StreamFailure } {
  const name = isPresent(owner.error) ? 'error' : 'message'
  const masked = maskStrings(owner[name])
  const data = masked === undefined ? event.data : setMembers(event.data, { [name]: masked }, path)
  return {
    event: withData(event, data),
    failure: { ...failureOf(owner), forwarded: true },
  }
}

/** What the error in an object says, safe to send and to log; `unsaid` is its message when it has none. */
export function failureOf(
  owner: JsonObject,
  unsaid = 'the upstream reported an error in its stream',
): Omit<StreamFailure, 'forwarded'> {
  const { message, ...words } = readErrorWords(owner)
  const { code, type, param } = plainWords(words)
  return {
    code: code ?? type ?? 'upstream_transport',
    ...(type !== undefined && { type }),
    ...(param !== undefined && { param }),
    message: message === undefined ? unsaid : safeUpstreamMessage(message),
  }
}

/**
 * What an object says that is no event of its stream, behind the fault that is found with it; empty
 * when it says nothing. Some upstreams report failures by such objects.
 */
export function strayWords({ message, Message }: JsonObject): string {
  const words = message ?? Message
  return typeof words === 'string' && words !== ''
    ? `, but says: ${safeUpstreamMessage(words)}`
    : ''
}

/** The value with its strings made safe for a caller; undefined when they are already. */
function maskStrings(value: JsonValue | undefined): JsonValue | undefined {
  if (value === undefined) return undefined
  const masked = JSON.stringify(value, (_key, member) =>
    typeof member === 'string' ? safeUpstreamMessage(member) : member,
  )
  return masked === JSON.stringify(value) ? undefined : (JSON.parse(masked) as JsonValue)
}
