import { plainWords, safeUpstreamMessage } from '../plugin/errors.ts'
import type { JsonObject, JsonValue } from '../plugin/json.ts'
import type { StreamEvent } from '../plugin/stream.ts'
import type { StreamFailure } from '../plugin/surface.ts'
import { withData } from './dialect-stream.ts'
import { readErrorWords } from './error-words.ts'
import { isPresent } from './is-present.ts'
import { setMembers } from './json-splice.ts'

/**
 * An error event of the upstream: its message, and the event to forward, unchanged unless
 * credentials had to be masked. The error is the member `error` of the object at `path`, or that
 * object itself.
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

/** The error in an object, masked; `unsaid` is the message if it has none. */
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
 * The message of an object that is not a valid event, to append to the fault; empty if it has none.
 * Some upstreams report failures this way.
 */
export function strayWords({ message, Message }: JsonObject): string {
  const words = message ?? Message
  return typeof words === 'string' && words !== ''
    ? `, but says: ${safeUpstreamMessage(words)}`
    : ''
}

/** The value with masked strings; undefined if nothing had to be masked. */
function maskStrings(value: JsonValue | undefined): JsonValue | undefined {
  if (value === undefined) return undefined
  const masked = JSON.stringify(value, (_key, member) =>
    typeof member === 'string' ? safeUpstreamMessage(member) : member,
  )
  return masked === JSON.stringify(value) ? undefined : (JSON.parse(masked) as JsonValue)
}
