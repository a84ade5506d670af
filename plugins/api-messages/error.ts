import type { CallError, WireError } from 'model-gateway/surface'
import { encodeSse } from 'model-gateway/wire'

/** An error as callers of the messages API read it. */
export function messagesError(error: CallError, requestId: string): WireError {
  const { type = 'upstream_error', message, code, details } = error
  const body = {
    type: 'error',
    error: { type, message, code, ...details },
    request_id: requestId,
  }
  return { body, event: encodeSse(JSON.stringify(body), 'error') }
}
