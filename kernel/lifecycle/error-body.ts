import { type ApiSurface, GatewayError, type JsonObject } from '../plugin/index.ts'
import { messagesErrorBody } from '../protocol/messages-error.ts'

/** The shape of an error body: one everywhere, but for callers of the messages API. */
export function errorBody(
  error: GatewayError,
  requestId: string,
  surface?: ApiSurface,
): JsonObject {
  if (surface === 'messages') return messagesErrorBody(error, requestId)
  return {
    error: {
      message: error.message,
      type: error.type,
      code: error.code,
      param: null,
      ...error.details,
      request_id: requestId,
    },
  }
}

/** Goes with a 401: agents such as Claude Code ask again for minutes unless they are told not to. */
export const CHALLENGE = { 'www-authenticate': 'Bearer', 'x-should-retry': 'false' } as const

/** What the caller is told of a fault that is not the caller's business. */
export function internalError(cause: unknown): GatewayError {
  return new GatewayError('internal_error', 'the gateway failed; its log has the request id', {
    cause,
  })
}
