import type { JsonObject } from 'model-gateway/plugin'
import { converseRefusal } from './strict-converse.ts'
import { messagesRefusal } from './strict-messages.ts'

/** The answer of a cloud to a request that it does not take. */
export interface StrictRefusal {
  readonly status: number
  readonly json: JsonObject
  readonly headers: Record<string, string>
}

/**
 * What the real service is known to refuse of a call of this path, in the service's own shape;
 * undefined for a good one, and for calls of other APIs.
 */
export function strictRefusal(path: string, body: JsonObject): StrictRefusal | undefined {
  const [place = ''] = path.split('?')
  if (/\/converse(-stream)?$/.test(place)) {
    const refused = converseRefusal(place, body)
    return refused && bedrock(refused.status, refused.message)
  }
  const host = /:(?:streamR|r)awPredict$/.test(place)
    ? 'vertex'
    : place.endsWith('/invoke')
      ? 'invoke'
      : 'mantle'
  if (host === 'mantle' && !place.endsWith('/anthropic/v1/messages')) return undefined
  const message = messagesRefusal(host, body)
  if (message === undefined) return undefined
  if (host === 'invoke') return bedrock(400, message)
  const error = { type: 'invalid_request_error', message }
  return { status: 400, json: { type: 'error', error }, headers: {} }
}

function bedrock(status: number, message: string): StrictRefusal {
  const type = status === 403 ? 'AccessDeniedException' : 'ValidationException'
  return { status, json: { message }, headers: { 'x-amzn-errortype': type } }
}
