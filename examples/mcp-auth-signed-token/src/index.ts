import {
  type McpAuthMode,
  McpSecretReference,
  mcpAuthMode,
  mcpAuthModes,
  readMcpSecret,
  requireHttps,
} from 'model-gateway/mcp'
import { type Clock, definePlugin, strictObject, Type } from 'model-gateway/plugin'
import { tokenOf } from './token.ts'

const authConfig = strictObject({
  secret_ref: McpSecretReference,
  audience: Type.String({
    pattern: '^[\\x21-\\x7e]{1,200}$',
    description: 'Audience (aud) that the server expects',
    errorMessage: 'must be 1 to 200 characters of visible ASCII',
  }),
  lifetime_secs: Type.Optional(
    Type.Integer({
      minimum: 5,
      maximum: 600,
      description: 'Lifetime of a token in seconds. Default 60',
    }),
  ),
})
const LIFETIME_SECS = 60

/** Signs a separate token for each call. */
function signedToken(issuer: string, clock: Clock): McpAuthMode {
  return mcpAuthMode({
    mode: 'gateway_signed_token',
    kind: 'gateway',
    configSchema: authConfig,
    // Requires https, because an intercepted token can be used until it expires.
    validate: requireHttps,
    headers({ serverKey, authConfig: { secret_ref, audience, lifetime_secs = LIFETIME_SECS } }) {
      const iat = Math.floor(clock.now().getTime() / 1000)
      const claims = { iss: issuer, aud: audience, iat, exp: iat + lifetime_secs }
      const token = tokenOf(
        { ...claims, jti: crypto.randomUUID() },
        readMcpSecret(secret_ref, serverKey),
      )
      return { authorization: `Bearer ${token}` }
    },
  })
}

export default definePlugin({
  manifest: {
    id: 'mcp-auth.signed-token',
    version: '1.0.0',
    contract: 1,
    summary: 'An MCP auth mode: a short-lived token that the gateway signs for each call.',
    config: strictObject({
      issuer: Type.String({
        pattern: '^[\\x21-\\x7e]{1,200}$',
        default: 'model-gateway',
        description: 'Issuer (iss) of the tokens',
      }),
    }),
    // Configs are checked against the declaration before setup.
    declares: [{ point: mcpAuthModes, spec: signedToken('', { now: () => new Date(0) }) }],
    needs: ['clock'],
  },
  setup(ctx) {
    ctx.provide(mcpAuthModes, signedToken(ctx.config.issuer, ctx.clock))
  },
})
