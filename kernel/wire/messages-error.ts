import { GatewayError } from '../plugin/errors.ts'
import type { JsonObject } from '../plugin/json.ts'
import type { StreamFailure } from './family-stream.ts'
import { encodeSse } from './sse.ts'

/** An error as callers of the messages API read it: the body of a reply, the data of an event. */
export function messagesErrorBody(
  error: GatewayError | StreamFailure,
  requestId: string,
): JsonObject {
  const own = error instanceof GatewayError ? error : { type: 'upstream_error', details: {} }
  return {
    type: 'error',
    error: { type: own.type, message: error.message, code: error.code, ...own.details },
    request_id: requestId,
  }
}

/** The event that ends a failed stream, as SSE text. */
export function messagesErrorEvent(error: GatewayError | StreamFailure, requestId: string): string {
  return encodeSse(JSON.stringify(messagesErrorBody(error, requestId)), 'error')
}
