import {
  definePlugin,
  McpSecretReference,
  mcpAuthMode,
  mcpAuthModes,
  readMcpSecret,
  requireHttps,
  strictObject,
  Type,
} from 'model-gateway/plugin'

const gatewayBearerToken = mcpAuthMode({
  mode: 'gateway_bearer_token',
  kind: 'gateway',
  configSchema: strictObject({ secret_ref: McpSecretReference }),
  validate: requireHttps,
  headers: ({ serverKey, authConfig }) => ({
    authorization: `Bearer ${readMcpSecret(authConfig.secret_ref, serverKey)}`,
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
