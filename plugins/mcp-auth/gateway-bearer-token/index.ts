import { definePlugin, mcpAuthMode, mcpAuthModes, strictObject, Type } from 'model-gateway/plugin'
import { readSecret, requireHttps, SecretReference } from '../_shared/secret.ts'

const gatewayBearerToken = mcpAuthMode({
  mode: 'gateway_bearer_token',
  kind: 'gateway',
  configSchema: strictObject({ secret_ref: SecretReference }),
  validate: requireHttps,
  headers: ({ serverKey, authConfig }) => ({
    authorization: `Bearer ${readSecret(authConfig.secret_ref, serverKey)}`,
  }),
})

/** MCP servers that take a bearer token of the gateway's. */
export default definePlugin({
  manifest: {
    id: 'mcp-auth.gateway-bearer-token',
    version: '0.1.0',
    contract: 1,
    summary: 'MCP servers that take a bearer token of the gateway.',
    config: Type.Object({}, { additionalProperties: false }),
    mcpAuthModes: [gatewayBearerToken],
    needs: [],
  },
  setup: ({ provide }) => provide(mcpAuthModes, gatewayBearerToken),
})
