import { McpSecretReference, mcpAuthMode, readMcpSecret, requireHttps } from 'model-gateway/mcp'
import { strictObject, Type } from 'model-gateway/plugin'
import { authModePlugin } from '../_shared/auth-mode-plugin.ts'
import { headerNameProblem } from '../_shared/header-name.ts'

const gatewayStaticHeader = mcpAuthMode({
  mode: 'gateway_static_header',
  kind: 'gateway',
  configSchema: strictObject({
    header_name: Type.String({ minLength: 1, maxLength: 100 }),
    secret_ref: McpSecretReference,
  }),
  *validate(declaration) {
    yield* requireHttps(declaration)
    const message = headerNameProblem(declaration.authConfig.header_name)
    if (message !== undefined) yield { field: 'auth_config.header_name', message }
  },
  headers: ({ serverKey, authConfig }) => ({
    [authConfig.header_name.toLowerCase()]: readMcpSecret(authConfig.secret_ref, serverKey),
  }),
})

export default authModePlugin(
  gatewayStaticHeader,
  'MCP servers that accept a secret of the gateway in a custom header.',
)
