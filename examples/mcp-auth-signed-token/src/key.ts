import { GatewayError, Type } from 'model-gateway/plugin'

/** With this prefix a server that somebody registers cannot name any other variable of the gateway. */
const REFERENCE = /^env\/(GATEWAY_MCP_SECRET_[A-Z0-9_]{1,64})$/

export const KeyReference = Type.String({
  pattern: REFERENCE.source,
  description: 'The key that signs, in an environment variable: env/GATEWAY_MCP_SECRET_<NAME>.',
  errorMessage: 'must be env/GATEWAY_MCP_SECRET_<NAME>, of A-Z, 0-9 and _',
})

/** The key as it is now. Throws GatewayError, which never shows it. */
export function readKey(reference: string, serverKey: string): string {
  const name = REFERENCE.exec(reference)?.[1] ?? ''
  const value = process.env[name]
  if (value !== undefined && /^[\x21-\x7e]+$/.test(value)) return value
  const what = value === undefined || value === '' ? 'is not set' : 'is no line of visible ASCII'
  throw new GatewayError(
    'internal_error',
    `no token can be signed for the MCP server ${serverKey}: ${name} ${what}`,
  )
}
