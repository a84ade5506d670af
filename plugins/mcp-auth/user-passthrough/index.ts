import { definePlugin, mcpAuthMode, mcpAuthModes, strictObject, Type } from 'model-gateway/plugin'
import { headerNameProblem } from '../_shared/header-name.ts'

const userPassthrough = mcpAuthMode({
  mode: 'user_passthrough',
  kind: 'caller',
  configSchema: strictObject({
    header: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  }),
  *validate({ authConfig: { header } }) {
    const message = header === undefined ? undefined : headerNameProblem(header)
    if (message !== undefined) yield { field: 'auth_config.header', message }
  },
})

/** MCP servers that want each caller's own credentials; declared, not called. */
export default definePlugin({
  manifest: {
    id: 'mcp-auth.user-passthrough',
    version: '0.1.0',
    contract: 1,
    summary: "MCP servers that want each caller's own credentials; declared, not called.",
    config: Type.Object({}, { additionalProperties: false }),
    mcpAuthModes: [userPassthrough],
    needs: [],
  },
  setup: ({ provide }) => provide(mcpAuthModes, userPassthrough),
})
