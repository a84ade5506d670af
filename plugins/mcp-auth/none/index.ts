import { definePlugin, mcpAuthMode, mcpAuthModes, strictObject, Type } from 'model-gateway/plugin'

const none = mcpAuthMode({
  mode: 'none',
  kind: 'gateway',
  configSchema: strictObject({}),
  validate: () => [],
  headers: () => ({}),
})

/** MCP servers that anybody may call. */
export default definePlugin({
  manifest: {
    id: 'mcp-auth.none',
    version: '0.1.0',
    contract: 1,
    summary: 'MCP servers without authentication.',
    config: Type.Object({}, { additionalProperties: false }),
    mcpAuthModes: [none],
    needs: [],
  },
  setup: ({ provide }) => provide(mcpAuthModes, none),
})
