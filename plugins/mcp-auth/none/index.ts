import { mcpAuthMode } from 'model-gateway/mcp'
import { strictObject } from 'model-gateway/plugin'
import { authModePlugin } from '../_shared/auth-mode-plugin.ts'

const none = mcpAuthMode({
  mode: 'none',
  kind: 'gateway',
  configSchema: strictObject({}),
  validate: () => [],
  headers: () => ({}),
})

export default authModePlugin(none, 'MCP servers without authentication.')
