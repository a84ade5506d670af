import { GatewayError, type Usage } from 'model-gateway/plugin'

/** A reply that is not what it was asked for; `usage` is what it states all the same. */
export function malformedReply(what: string, usage?: Usage): GatewayError {
  const message = `malformed reply of the upstream: ${what}`
  return new GatewayError('upstream_transport', message, usage && { usage })
}
