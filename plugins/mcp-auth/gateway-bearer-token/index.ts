import { McpSecretReference, mcpAuthMode, readMcpSecret, requireHttps } from 'model-gateway/mcp'
import { strictObject } from 'model-gateway/plugin'
import { authModePlugin } from '../_shared/auth-mode-plugin.ts'

const gatewayBearerToken = mcpAuthMode({
  mode: 'gateway_bearer_token',
  kind: 'gateway',
  configSchema: strictObject({ secret_ref: McpSecretReference }),
  validate: requireHttps,
  headers: ({ serverKey, authConfig }) => ({
    authorization: `Bearer ${readMcpSecret(authConfig.secret_ref, serverKey)}`,
  }),
})

export default authModePlugin(
  gatewayBearerToken,
  'MCP servers that accept a bearer token of the gateway.',
)
