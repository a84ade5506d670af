import { expect, test } from 'bun:test'
import type { McpInvocationHandle, McpInvocationResult } from '../plugin/index.ts'
import { createMcpProxy } from './mcp.ts'
import { type McpIncoming, type McpServices, usualMcpLimits } from './mcp-exchange.ts'

const server = {
  mcpServerId: 's1',
  serverKey: 'files',
  serverUrl: 'https://files.example.test/mcp',
  authMode: 'none',
  tools: new Map(),
}

/** A gateway whose one server takes any message; `handle` is the call that a cancellation finds. */
function servicesWith(handle: Pick<McpInvocationHandle, 'openedAt' | 'close'>): McpServices {
  return {
    lease: () => ({ runtime: { guardOfServer: () => undefined }, release() {} }),
    identity: {
      authenticate: async () => ({ ownershipScopeKey: 'user:u1', owner: { kind: 'user' } }),
    },
    accounting: { checkOwner() {} },
    registry: { find: () => server },
    authModes: [{ mode: 'none', kind: 'gateway', headers: () => ({}) }],
    audit: {
      ownerOf: async () => ({ ownershipScopeKey: 'user:u1' }),
      reopen: async () => handle,
    },
    send: async () => new Response(null, { status: 202 }),
    trace: () => ({ traceparent: undefined, finished() {} }),
    door: { loopback: false, publicBaseUrl: undefined },
    limits: usualMcpLimits,
    fault(message: string, error: unknown) {
      throw new Error(message, { cause: error })
    },
  } as unknown as McpServices
}

test('a call that a replica with a fast clock has opened is not cancelled before it began', async () => {
  const closed = Promise.withResolvers<McpInvocationResult>()
  const services = servicesWith({
    openedAt: new Date(Date.now() + 60_000),
    close: closed.resolve,
  })
  const headers = {
    authorization: 'Bearer gwk_0123456789.secret',
    'content-type': 'application/json',
    'mcp-session-id': 'session',
  }
  const message = {
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: 7 },
  }
  const incoming: McpIncoming = {
    requestId: 'r',
    receivedAt: new Date(),
    method: 'POST',
    serverKey: 'files',
    header: (name) => new Headers(headers).get(name),
    headers,
    body: async () => JSON.stringify(message),
    callerLeft: () => new AbortController().signal,
  }
  const { status } = await createMcpProxy(services).handle(incoming)
  expect(status).toBe(202)
  expect(await closed.promise).toEqual({ status: 'cancelled', latencyMs: 0, responseBytes: 0 })
})
