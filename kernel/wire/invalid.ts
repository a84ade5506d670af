import { GatewayError } from '../plugin/errors.ts'

/** Refuses what a caller has sent; the message begins with the field. */
export function invalid(message: string): GatewayError {
  return new GatewayError('invalid_request', message)
}
