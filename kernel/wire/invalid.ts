import { GatewayError } from '../plugin/errors.ts'

/** The error for an invalid request; the message begins with the field. */
export function invalid(message: string): GatewayError {
  return new GatewayError('invalid_request', message)
}
