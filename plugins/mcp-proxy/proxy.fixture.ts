import type { McpInvocationHandle } from './contract.ts'
import { type McpIncoming, type McpServices, usualMcpLimits } from './exchange.ts'

/** The only server there is. */
export const server = {
  mcpServerId: 's1',
  serverKey: 'files',
  serverUrl: 'https://files.example.test/mcp',
  authMode: 'none',
  tools: new Map(),
}

/**
 * A gateway with one server that accepts any message; `handle` is the call that a cancellation
 * finds.
 */
export function servicesWith(handle: Pick<McpInvocationHandle, 'openedAt' | 'close'>): McpServices {
  return {
    lease: () => ({ guards: undefined, release() {} }),
    identity: {
      authenticate: async () => ({ ownershipScopeKey: 'user:u1', owner: { kind: 'user' } }),
    },
    accounting: { checkOwner() {} },
    registry: { find: () => server },
    authModes: [{ mode: 'none', kind: 'gateway', headers: () => ({}) }],
    audit: {
      ownerOf: async () => ({ ownershipScopeKey: 'user:u1' }),
      open: async () => handle,
      reopen: async () => handle,
    },
    send: async () => new Response(null, { status: 202 }),
    trace: () => ({ traceparent: undefined, finished() {} }),
    door: { publicBaseUrl: undefined, checksHost: false, requireOwnHost() {} },
    limits: usualMcpLimits,
    fault(message: string, error: unknown) {
      throw new Error(message, { cause: error })
    },
  } as unknown as McpServices
}

/** A message in this session. */
export function incoming(message: object, session: string | undefined): McpIncoming {
  const headers = {
    authorization: 'Bearer gwk_0123456789.secret',
    'content-type': 'application/json',
    ...(session !== undefined && { 'mcp-session-id': session }),
  }
  return {
    requestId: 'r',
    receivedAt: new Date(),
    method: 'POST',
    serverKey: 'files',
    header: (name) => new Headers(headers).get(name),
    headers,
    body: async () => JSON.stringify({ jsonrpc: '2.0', ...message }),
    callerLeft: () => new AbortController().signal,
    streamEnded() {},
  }
}
