import { mcpAuthMode } from 'model-gateway/mcp'
import { strictObject, Type } from 'model-gateway/plugin'
import { authModePlugin } from '../_shared/auth-mode-plugin.ts'
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

export default authModePlugin(
  userPassthrough,
  "MCP servers that require each caller's own credentials; they can be declared, but not called.",
)
