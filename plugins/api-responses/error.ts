import type { CallError, WireError } from 'model-gateway/surface'
import { encodeSse, plainError } from 'model-gateway/wire'

/** An error in the format of the responses API: in a stream, an event with a number. */
export function responsesError(error: CallError, requestId: string): WireError {
  // The upstream may be another gateway, with separate budgets.
  return error.code === 'budget_exceeded' && error.gatewayCode === undefined
    ? usageLimit(error, requestId)
    : written(error, requestId)
}

function written(error: CallError, requestId: string): WireError {
  const { body } = plainError(error, requestId)
  const { code, message, number = 0 } = error
  const event = { type: 'error', sequence_number: number, code, message, param: null, ...body }
  return { body, event: encodeSse(JSON.stringify(event), 'error') }
}

/**
 * Codex retries after each 429 except this type, for which it shows the header and the time in Unix
 * seconds. (openai/codex, codex-rs/codex-api/src/api_bridge.rs)
 */
function usageLimit(error: CallError, requestId: string): WireError {
  const { resets_at: resetsAt, reason = error.message } = error.details ?? {}
  const seconds = Date.parse(String(resetsAt)) / 1000
  const details = { ...error.details, ...(Number.isFinite(seconds) && { resets_at: seconds }) }
  const shown = String(reason).replaceAll(/[^ -~]/g, '?')
  return {
    ...written({ ...error, type: 'usage_limit_reached', details }, requestId),
    headers: { 'x-codex-promo-message': `${shown.slice(0, 1).toUpperCase()}${shown.slice(1)}` },
  }
}
