import type { CallError, WireError } from 'model-gateway/surface'
import { encodeSse, plainError } from 'model-gateway/wire'

/** An error as callers of the responses API read it: in a stream it is an event with a number. */
export function responsesError(error: CallError, requestId: string): WireError {
  const { body } = plainError(error, requestId)
  const { code, message, number = 0 } = error
  const event = { type: 'error', sequence_number: number, code, message, param: null, ...body }
  return { body, event: encodeSse(JSON.stringify(event), 'error') }
}
