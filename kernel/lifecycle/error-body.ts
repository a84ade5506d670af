import { type ApiSurface, GatewayError, type JsonObject } from '../plugin/index.ts'
import { plainErrorBody } from '../wire/family-stream.ts'
import { messagesErrorBody } from '../wire/messages-error.ts'

/** The shape of an error body: one everywhere, but for callers of the messages API. */
export function errorBody(
  error: GatewayError,
  requestId: string,
  surface?: ApiSurface,
): JsonObject {
  const write = surface === 'messages' ? messagesErrorBody : plainErrorBody
  return write(error, requestId)
}

/** Goes with a 401: agents such as Claude Code ask again for minutes unless they are told not to. */
export const CHALLENGE = { 'www-authenticate': 'Bearer', 'x-should-retry': 'false' } as const

/** What the caller is told of a fault that is not the caller's business. */
export function internalError(cause: unknown): GatewayError {
  return new GatewayError('internal_error', 'the gateway failed; its log has the request id', {
    cause,
  })
}
