import { GatewayError, Type } from 'model-gateway/plugin'
import type { McpAuthDeclaration, McpAuthProblem } from './contract.ts'

const REFERENCE = /^env\/(GATEWAY_MCP_SECRET_[A-Z0-9_]{1,64})$/

/**
 * Reference to the secret of an MCP server. The prefix is fixed, so that registering a server
 * cannot expose other variables of the gateway.
 */
export const McpSecretReference = Type.String({
  pattern: REFERENCE.source,
  description:
    'Environment variable of the gateway with the secret: env/GATEWAY_MCP_SECRET_<NAME>.',
  errorMessage: 'must be env/GATEWAY_MCP_SECRET_<NAME>, where <NAME> has A-Z, 0-9 and _',
})

/** Characters that are allowed in a header value. */
const FIELD_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

/**
 * The current secret of a reference; callers must not store it. Throws GatewayError
 * `internal_error`, without the secret, if it is not set or not valid in a header.
 */
export function readMcpSecret(reference: string, serverKey: string): string {
  const name = REFERENCE.exec(reference)?.[1]
  const value = name === undefined ? undefined : process.env[name]
  if (value !== undefined && FIELD_VALUE.test(value)) return value
  const what = value === undefined || value === '' ? 'is not set' : 'cannot be sent in a header'
  throw new GatewayError(
    'internal_error',
    `the gateway has no credentials for the MCP server ${serverKey}: ${name ?? 'its secret'} ${what}`,
  )
}

/** For `validate` of a mode: requires https, so that the secret is not sent in plain text. */
export function* requireHttps({
  serverUrl,
  plainHttpAllowed,
}: Pick<McpAuthDeclaration, 'serverUrl' | 'plainHttpAllowed'>): Iterable<McpAuthProblem> {
  if (serverUrl.protocol === 'https:' || plainHttpAllowed) return
  yield { field: 'server_url', message: 'must be https, because the gateway sends a secret to it' }
}
