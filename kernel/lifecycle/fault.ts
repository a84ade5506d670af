import { GatewayError } from '../plugin/index.ts'
import { internalError } from './error-body.ts'
import type { LifecycleServices } from './exchange.ts'

/** What the caller is told of anything that was thrown; faults of the gateway go to its log. */
export function asGatewayError(
  thrown: unknown,
  requestId: string,
  services: Pick<LifecycleServices, 'fault'>,
): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  services.fault('an exchange failed', thrown, requestId)
  return internalError(thrown)
}
