import {
  definePlugin,
  McpSecretReference,
  mcpAuthMode,
  mcpAuthModes,
  strictObject,
  Type,
} from 'model-gateway/plugin'

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

/** MCP servers that want a token exchanged on behalf of the caller; declared, not called. */
export default definePlugin({
  manifest: {
    id: 'mcp-auth.oauth-obo',
    version: '0.1.0',
    contract: 1,
    summary: 'MCP servers that want a token on behalf of the caller; declared, not called.',
    config: Type.Object({}, { additionalProperties: false }),
    mcpAuthModes: [oauthObo],
    needs: [],
  },
  setup: ({ provide }) => provide(mcpAuthModes, oauthObo),
})
