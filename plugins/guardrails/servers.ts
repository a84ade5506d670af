import type { GuardedOperation } from 'model-gateway/guardrail'
import type { McpRegistry } from 'model-gateway/mcp'

/** The MCP servers of the registry. */
export interface Servers {
  has(key: string): boolean
  /** An operation with all names of its server, as the proxy knows it. */
  identify<T extends Pick<GuardedOperation, 'server'>>(operation: T): T
}

/** Packs know servers by their names in the registry, whichever client asks. */
export function serversOf(registry: () => McpRegistry | undefined): Servers {
  return {
    has: (key) => registry()?.find(key) !== undefined,
    identify(operation) {
      const { server } = operation
      const known = server && registry()?.find(server.key)
      if (server === undefined || known === undefined) return operation
      return { ...operation, server: { ...server, aliases: known.aliases } }
    },
  }
}
