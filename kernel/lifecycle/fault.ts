import { GatewayError } from '../plugin/index.ts'
import { internalError } from './error-body.ts'
import type { LifecycleServices } from './exchange.ts'

/** Turns anything thrown into the error for the caller; logs failures of the gateway. */
export function asGatewayError(
  thrown: unknown,
  requestId: string,
  services: Pick<LifecycleServices, 'fault'>,
): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  services.fault('an exchange failed', thrown, requestId)
  return internalError(thrown)
}
