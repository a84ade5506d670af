import type { HttpRoute } from 'model-gateway/http'
import { GatewayError } from 'model-gateway/plugin'
import type { McpIncoming } from './exchange.ts'
import type { McpProxy } from './proxy.ts'

/** Maximum size of a message. */
const MAX_BODY_BYTES = 4 << 20

const methods: ReadonlySet<string> = new Set<McpIncoming['method']>(['GET', 'POST', 'DELETE'])

/** The route `/mcp/:server_key`: HTTP methods, and replies for Bun. */
export function createMcpRoute(proxy: () => Pick<McpProxy, 'handle'>): HttpRoute {
  return {
    method: 'ALL',
    path: '/mcp/:server_key',
    async handle(call) {
      const { request, requestId, receivedAt, address } = call
      const { method } = request
      if (!methods.has(method)) {
        throw new GatewayError(
          'invalid_request',
          `${method} is not an HTTP method of MCP; use GET, POST or DELETE`,
          {
            status: 405,
            headers: { allow: 'GET, POST, DELETE' },
          },
        )
      }
      // Create the headers at once, because most of them are read.
      const headers = call.headers()
      if (method !== 'POST') call.keepOpen()
      const streamed = Promise.withResolvers<void>()
      const reply = await proxy().handle({
        requestId,
        receivedAt,
        method: method as McpIncoming['method'],
        serverKey: call.params.server_key as string,
        header: (name) => headers[name] ?? null,
        headers,
        body: () => call.text(MAX_BODY_BYTES),
        callerLeft: () => request.signal,
        address,
        streamEnded: streamed.resolve,
      })
      if (reply.body instanceof ReadableStream) void streamed.promise.then(call.streams())
      return new Response(reply.body, { status: reply.status, headers: reply.headers })
    },
  }
}
