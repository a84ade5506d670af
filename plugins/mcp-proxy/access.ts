import { type Principal, presentedKey } from 'model-gateway/identity'
import type { McpServer } from './contract.ts'

/** The gateway key of a call. Not `x-api-key`, which MCP clients use for other keys. */
export function mcpKey(header: (name: string) => string | null): string {
  return presentedKey(header, ['x-gateway-api-key'])
}

/** Whether the caller's key and the allowlist of the server permit the call. */
export function mayUse(server: McpServer, { mcpServers, owner }: Principal): boolean {
  if (mcpServers !== undefined && !mcpServers.has(server.serverKey)) return false
  return server.admits?.(owner) ?? true
}
