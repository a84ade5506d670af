import type { GuardedOperation, McpRegistry } from 'model-gateway/plugin'

/** An operation with all names of its MCP server, as the proxy knows it. */
export type Identify = <T extends Pick<GuardedOperation, 'server'>>(operation: T) => T

/** Packs know servers by the names that the registry has for them, whoever asks for a verdict. */
export function identifier(registry: () => McpRegistry | undefined): Identify {
  return (operation) => {
    const { server } = operation
    const known = server && registry()?.find(server.key)
    if (server === undefined || known === undefined) return operation
    return { ...operation, server: { ...server, aliases: known.aliases } }
  }
}
