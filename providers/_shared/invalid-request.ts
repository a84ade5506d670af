import { GatewayError } from 'model-gateway/plugin'

/** A provider refuses the call before sending it. The message begins with the field. */
export function invalidRequest(message: string): GatewayError {
  return new GatewayError('invalid_request', message)
}
