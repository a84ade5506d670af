import { type McpAuthMode, mcpAuthModes } from 'model-gateway/mcp'
import { definePlugin, Type } from 'model-gateway/plugin'

/** A plugin for one mode, named after it: `mcp-auth.gateway-bearer-token`. */
export function authModePlugin(mode: McpAuthMode, summary: string) {
  return definePlugin({
    manifest: {
      id: `mcp-auth.${mode.mode.replaceAll('_', '-')}`,
      version: '0.1.0',
      contract: 1,
      summary,
      config: Type.Object({}, { additionalProperties: false }),
      declares: [{ point: mcpAuthModes, spec: mode }],
      needs: [],
    },
    setup: ({ provide }) => provide(mcpAuthModes, mode),
  })
}
