import { safeUpstreamMessage } from '../plugin/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import type { StreamEvent } from '../plugin/stream.ts'
import type { StreamFailure } from '../plugin/surface.ts'
import { withData } from './dialect-stream.ts'
import { setMembers } from './json-splice.ts'

/** Codes longer than this are not codes. */
const CODE_LIMIT = 64

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
  const inner = owner.error ?? undefined
  const error = inner ?? owner
  const name = inner === undefined ? 'message' : 'error'
  const masked = maskStrings(owner[name])
  const data = masked === undefined ? event.data : setMembers(event.data, { [name]: masked }, path)
  return {
    event: withData(event, data),
    failure: { code: codeOf(error), message: messageOf(error), forwarded: true },
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

function codeOf(error: JsonValue): string {
  if (!isJsonObject(error)) return 'upstream_transport'
  const stated = error.code ?? (error.type === 'error' ? undefined : error.type)
  const code = typeof stated === 'number' ? String(stated) : stated
  return typeof code === 'string' && code !== '' && code.length <= CODE_LIMIT
    ? code
    : 'upstream_transport'
}

function messageOf(error: JsonValue): string {
  const message = isJsonObject(error) ? error.message : error
  return typeof message === 'string' && message !== ''
    ? safeUpstreamMessage(message)
    : 'the upstream reported an error in its stream'
}
