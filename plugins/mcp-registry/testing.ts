import { mcpAuthMode } from 'model-gateway/mcp'
import { strictObject } from 'model-gateway/plugin'

/** An auth mode that wants nothing. */
export const none = mcpAuthMode({
  mode: 'none',
  kind: 'gateway',
  configSchema: strictObject({}),
  validate: () => [],
  headers: () => ({}),
})
