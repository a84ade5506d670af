import { GatewayError } from '../plugin/index.ts'

const KEY_PREFIX = 'gwk_'
const BEARER = /^bearer +(\S+) *$/i

/**
 * The gateway key among a request's headers. Clients often send a dummy value in one header and
 * the real key in another, so only values that start with `gwk_` count as soon as there is one.
 */
export function presentedKey(header: (name: string) => string | null): string {
  const present = (name: string) => header(name) || null
  const authorization = present('authorization')
  const xApiKey = present('x-api-key')
  const xGatewayApiKey = present('x-gateway-api-key')
  const bearer = authorization === null ? undefined : BEARER.exec(authorization)?.[1]

  let key: string | undefined
  for (const value of [bearer, xApiKey, xGatewayApiKey]) {
    if (!value?.startsWith(KEY_PREFIX)) continue
    if (key !== undefined && key !== value) {
      throw new GatewayError(
        'conflicting_api_key_headers',
        'the request carries two different API keys; send one',
      )
    }
    key = value
  }
  if (key !== undefined) return key

  if (authorization === null && xApiKey === null && xGatewayApiKey === null) {
    throw new GatewayError(
      'missing_authorization_header',
      "no API key: send 'Authorization: Bearer gwk_…', x-api-key or x-gateway-api-key",
    )
  }
  if (
    authorization !== null &&
    bearer === undefined &&
    xApiKey === null &&
    xGatewayApiKey === null
  ) {
    throw new GatewayError(
      'invalid_authorization_header',
      "the Authorization header must read 'Bearer gwk_…'",
    )
  }
  throw new GatewayError('invalid_api_key_format', "an API key of this gateway starts with 'gwk_'")
}

/** The same for the MCP proxy: clients of MCP servers keep other things in `x-api-key`. */
export function mcpKey(header: (name: string) => string | null): string {
  return presentedKey((name) => (name === 'x-api-key' ? null : header(name)))
}
