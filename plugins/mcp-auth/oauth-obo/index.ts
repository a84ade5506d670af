import { McpSecretReference, mcpAuthMode } from 'model-gateway/mcp'
import { strictObject, Type } from 'model-gateway/plugin'
import { authModePlugin } from '../_shared/auth-mode-plugin.ts'

const text = Type.Optional(Type.String({ minLength: 1, maxLength: 500 }))

const oauthObo = mcpAuthMode({
  mode: 'oauth_obo',
  kind: 'caller',
  configSchema: strictObject({
    token_exchange: Type.Optional(
      strictObject({
        token_url: text,
        client_id: text,
        secret_ref: Type.Optional(McpSecretReference),
        audience: text,
        resource: text,
        scope: text,
      }),
    ),
  }),
  validate: () => [],
})

export default authModePlugin(
  oauthObo,
  'MCP servers that require a token on behalf of the caller; they can be declared, but not called.',
)
