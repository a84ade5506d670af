import { GatewayError } from '../plugin/index.ts'
import { mcpKey } from './api-key.ts'
import type { McpCall, McpServices } from './mcp-exchange.ts'

/** Has a stream on which a server speaks unasked, as a GET has in the revisions with a handshake. */
const LISTEN = 'subscriptions/listen'

/** Whether the reply is a stream on which the server speaks unasked, which has no end of its own. */
export function isListening({ incoming, request }: McpCall): boolean {
  return incoming.method === 'GET' || request?.method === LISTEN
}

/** Whether its caller may still have it: keys are revoked, budgets taken away, servers disabled. */
export async function mayListen(
  { incoming, server }: McpCall,
  { identity, accounting, registry }: McpServices,
): Promise<boolean> {
  try {
    accounting.checkOwner(await identity.authenticate(mcpKey(incoming.header)))
  } catch (error) {
    // Only who is refused; a database that is away refuses nobody.
    if (error instanceof GatewayError && (error.status === 401 || error.status === 403))
      return false
  }
  return registry?.find(incoming.serverKey)?.mcpServerId === server.mcpServerId
}
