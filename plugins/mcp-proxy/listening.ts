import { GatewayError } from 'model-gateway/plugin'
import { mayUse, mcpKey } from './access.ts'
import type { McpCall, McpServices } from './exchange.ts'

/**
 * Opens a stream of unsolicited server messages, like a GET in the protocol versions with a
 * handshake.
 */
const LISTEN = 'subscriptions/listen'

/** Whether the reply is a stream of unsolicited server messages, which does not end by itself. */
export function isListening({ incoming, request }: McpCall): boolean {
  return incoming.method === 'GET' || request?.method === LISTEN
}

/**
 * Whether the caller may keep the stream. The key may be revoked, the budget removed or the server
 * disabled, and results of later calls arrive on the stream, which a policy of an earlier config
 * must not judge.
 */
export async function mayListen(call: McpCall, services: McpServices): Promise<boolean> {
  const { incoming, server } = call
  const { identity, accounting, registry } = services
  try {
    const principal = await identity.authenticate(mcpKey(incoming.header), incoming)
    accounting?.checkOwner(principal)
    const current = registry?.find(incoming.serverKey)
    if (current === undefined || !mayUse(current, principal)) return false
  } catch (error) {
    // Only a rejected caller loses the stream; an unreachable database does not end it.
    if (error instanceof GatewayError && (error.status === 401 || error.status === 403))
      return false
  }
  if (registry?.find(incoming.serverKey)?.mcpServerId !== server.mcpServerId) return false
  return keepsPolicy(call, services)
}

function keepsPolicy({ incoming, guards, resultGuard }: McpCall, { lease }: McpServices): boolean {
  const current = lease()
  current.release()
  if (current.guards === guards) return true
  return resultGuard === undefined && current.guards?.forServer(incoming.serverKey) === undefined
}
