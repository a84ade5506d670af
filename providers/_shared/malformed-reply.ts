import { GatewayError } from 'model-gateway/plugin'
import type { Usage } from 'model-gateway/wire'

/**
 * A reply that is not what it was asked for; `usage` is what it states all the same, and
 * `billingModifiers` what changes the price of that.
 */
export function malformedReply(
  what: string,
  usage?: Usage,
  billingModifiers: readonly string[] = [],
): GatewayError {
  const message = `malformed reply of the upstream: ${what}`
  return new GatewayError('upstream_transport', message, usage && { usage, billingModifiers })
}
