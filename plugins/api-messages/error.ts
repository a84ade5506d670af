import type { CallError, WireError } from 'model-gateway/surface'
import { encodeSse } from 'model-gateway/wire'

/** https://docs.anthropic.com/en/api/errors: the types that clients and agents distinguish. */
const TYPES: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [408, 'timeout_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
])

/** Error types of other APIs for failures in a stream, which have no status. */
const KINDS: readonly (readonly [words: RegExp, type: string])[] = [
  [/overloaded|529/i, 'overloaded_error'],
  [/rate_?limit|throttl|quota|resource_exhausted|too_many|budget|429/i, 'rate_limit_error'],
  [/time_?d?_?out|deadline/i, 'timeout_error'],
  [/invalid|validation|context_length|bad_request|400/i, 'invalid_request_error'],
]

/** An error in the format of the messages API. */
export function messagesError(error: CallError, requestId: string): WireError {
  const { code, details, gatewayCode, param } = error
  const body = {
    type: 'error',
    error: {
      type: typeOf(error),
      message: messageOf(error),
      code,
      ...(gatewayCode !== undefined && { gateway_code: gatewayCode }),
      ...(param !== undefined && { param }),
      ...details,
    },
    request_id: requestId,
  }
  return { body, event: encodeSse(JSON.stringify(body), 'error') }
}

function typeOf({ code, type = '', status, overflow }: CallError): string {
  if (overflow !== undefined) return 'invalid_request_error'
  if (status !== undefined) {
    return TYPES.get(status) ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  }
  const kind =
    KINDS.find(([words]) => words.test(type)) ?? KINDS.find(([words]) => words.test(code))
  return kind?.[1] ?? 'api_error'
}

/** Agents shorten the conversation when they read this text. */
function messageOf({ message, overflow }: CallError): string {
  if (overflow === undefined || /prompt is too long:|exceed context limit/i.test(message)) {
    return message
  }
  const { tokens, limit } = overflow
  return tokens !== undefined && limit !== undefined && tokens > limit
    ? `prompt is too long: ${tokens} tokens > ${limit} maximum`
    : `prompt is too long: ${message}`
}
