import { GatewayError, type JsonObject } from '../plugin/index.ts'

/** The one shape of an error body. */
export function errorBody(error: GatewayError, requestId: string): JsonObject {
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

/** What the caller is told of a fault that is not the caller's business. */
export function internalError(cause: unknown): GatewayError {
  return new GatewayError('internal_error', 'the gateway failed; its log has the request id', {
    cause,
  })
}
