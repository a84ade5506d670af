import type { McpServer, Principal } from 'model-gateway/plugin'

/** Whether the caller's key and the server's allowlist let the caller use the server. */
export function mayUse(server: McpServer, { mcpServers, owner }: Principal): boolean {
  if (mcpServers !== undefined && !mcpServers.has(server.serverKey)) return false
  return server.admits?.(owner) ?? true
}
