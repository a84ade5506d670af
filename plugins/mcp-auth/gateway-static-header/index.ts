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

/** MCP servers that take a secret of the gateway's in a header of their own. */
export default definePlugin({
  manifest: {
    id: 'mcp-auth.gateway-static-header',
    version: '0.1.0',
    contract: 1,
    summary: 'MCP servers that take a secret of the gateway in a header of their own.',
    config: Type.Object({}, { additionalProperties: false }),
    mcpAuthModes: [gatewayStaticHeader],
    needs: [],
  },
  setup: ({ provide }) => provide(mcpAuthModes, gatewayStaticHeader),
})
