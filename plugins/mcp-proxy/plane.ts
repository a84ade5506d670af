import { GatewayError } from 'model-gateway/plugin'
import { type BodyLimits, readBody } from '../../kernel/http/body.ts'
import { errorResponse } from '../../kernel/http/error-response.ts'
import { headersOf } from '../../kernel/http/headers.ts'
import { callersRequestId, newRequestId } from '../../kernel/http/request-id.ts'
import type { McpProxy } from './proxy.ts'

export interface McpPlaneServices {
  readonly proxy: Pick<McpProxy, 'handle'>
  readonly bodyLimits: BodyLimits
  /** Where a request comes from. */
  address?(request: Request): string | undefined
  /** Lifts the server's idle timeout from a request whose body has arrived. */
  keepOpen(request: Request): void
  /** Its reply is a stream, which has the limit back when it has ended. */
  streams(request: Request): void
  limitAgain(request: Request): void
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'DELETE'])

/** The door of the MCP proxy: methods, request ids, and replies as Bun sends them. */
export function createMcpPlane(services: McpPlaneServices) {
  return async function answer(request: Request, serverKey: string): Promise<Response> {
    const { headers } = request
    let requestId: string
    try {
      requestId = callersRequestId(headers) ?? newRequestId()
    } catch (error) {
      if (error instanceof GatewayError) return errorResponse(error, newRequestId())
      throw error
    }
    if (!METHODS.has(request.method)) {
      const error = new GatewayError(
        'invalid_request',
        `${request.method} is not a method of MCP`,
        {
          status: 405,
          headers: { allow: 'GET, POST, DELETE' },
        },
      )
      return errorResponse(error, requestId)
    }
    // At once, since nearly all of them are looked at.
    const all = headersOf(headers)
    if (request.method !== 'POST') services.keepOpen(request)
    const reply = await services.proxy.handle({
      requestId,
      receivedAt: new Date(),
      method: request.method as 'GET' | 'POST' | 'DELETE',
      serverKey,
      header: (name) => all[name] ?? null,
      headers: all,
      async body() {
        const text = await readBody(request, services.bodyLimits)
        services.keepOpen(request)
        return text
      },
      callerLeft: () => request.signal,
      address: () => services.address?.(request),
      streamEnded: () => services.limitAgain(request),
    })
    if (reply.body instanceof ReadableStream) services.streams(request)
    return new Response(reply.body, { status: reply.status, headers: reply.headers })
  }
}
