import { GatewayError } from 'model-gateway/plugin'
import type { Usage } from 'model-gateway/wire'

/**
 * The error for a malformed reply; `usage` is what it reports nevertheless, and `billingModifiers`
 * changes its price.
 */
export function malformedReply(
  what: string,
  usage?: Usage,
  billingModifiers: readonly string[] = [],
): GatewayError {
  const message = `malformed reply of the upstream: ${what}`
  return new GatewayError('upstream_transport', message, usage && { usage, billingModifiers })
}
