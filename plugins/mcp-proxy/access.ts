import { type Principal, presentedKey } from 'model-gateway/identity'
import type { McpServer } from './contract.ts'

/** The gateway key of a call; clients of MCP servers keep other things in `x-api-key`. */
export function mcpKey(header: (name: string) => string | null): string {
  return presentedKey(header, ['x-gateway-api-key'])
}

/** Whether the caller's key and the server's allowlist let the caller use the server. */
export function mayUse(server: McpServer, { mcpServers, owner }: Principal): boolean {
  if (mcpServers !== undefined && !mcpServers.has(server.serverKey)) return false
  return server.admits?.(owner) ?? true
}
