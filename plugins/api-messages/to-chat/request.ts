import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { SurfaceCall } from 'model-gateway/surface'
import { invalid, isPresent, readChatRequest } from 'model-gateway/wire'
import { betaHeaders } from '../_shared/betas.ts'

/** A request of the messages API, as the caller sent it. */
export interface MessagesRequest extends SurfaceCall {
  readonly value: JsonObject
}

/**
 * Reads what the gateway needs of a messages request; the upstream or the conversion validates the
 * rest. `betas` is the header `anthropic-beta`. `null` counts as absent. Throws GatewayError
 * `invalid_request` with the caller's field name.
 */
export function readMessages(value: JsonValue, betas: string | null): MessagesRequest {
  if (!isJsonObject(value)) throw invalid('the request body must be a JSON object')
  const { max_tokens: maxTokens, thread } = value
  if (isPresent(thread)) throw threadRefused()
  if (!Number.isInteger(maxTokens) || (maxTokens as number) < 0) {
    throw invalid('max_tokens is required: the maximum number of tokens in the reply')
  }
  const headers = betaHeaders(betas)
  return { ...readChatRequest(value), value, ...(headers && { headers }) }
}

/**
 * The upstream stores a thread's earlier turns, but the next call may use another upstream.
 * Official clients that get this `error_code` send the whole conversation instead.
 */
function threadRefused(): GatewayError {
  return new GatewayError(
    'invalid_request',
    'thread: the gateway does not store conversations; send all messages, without thread',
    { details: { details: { error_code: 'thread_unsupported_request' } } },
  )
}
