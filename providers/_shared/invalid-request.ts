import { GatewayError } from 'model-gateway/plugin'

/** A call that a provider refuses before it is sent. The message begins with the field. */
export function invalidRequest(message: string): GatewayError {
  return new GatewayError('invalid_request', message)
}
