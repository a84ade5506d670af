import type { Incoming, Reply } from '../lifecycle/exchange.ts'
import { GatewayError, type Surface } from '../plugin/index.ts'
import { type BodyLimits, readBody } from './body.ts'
import { headersOf } from './request.ts'
import { callersRequestId, newRequestId, requestIdHeaders } from './request-id.ts'
import { streamResponse } from './stream-response.ts'

export interface DataPlaneServices {
  /** Runs one inference request. Never rejects. */
  infer(incoming: Incoming): Promise<Reply>
  readonly bodyLimits: BodyLimits
  /** Where a request comes from. */
  address?(request: Request): string | undefined
  /** Ends a request between whose bytes so many seconds pass; 0: never. */
  limitIdle(request: Request, seconds: number): void
  /** Its reply is a stream, which puts the limit back when it has ended. */
  streams(request: Request): void
}

/** The door of the surfaces: request ids, bodies, and replies as Bun sends them. */
export function createDataPlane(services: DataPlaneServices) {
  return async function infer(surface: Surface, request: Request): Promise<Response> {
    const headers = headersOf(request.headers)
    let chosen: string | undefined
    let refusal: GatewayError | undefined
    try {
      chosen = callersRequestId(headers['x-request-id'])
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      refusal = error
    }
    const requestId = chosen ?? newRequestId()
    const reply = await services.infer({
      requestId,
      callerChoseRequestId: chosen !== undefined,
      refusal,
      surface,
      receivedAt: new Date(),
      startedAt: performance.now(),
      headers,
      async body() {
        const text = await readBody(request, services.bodyLimits)
        services.limitIdle(request, 0)
        return text
      },
      callerLeft: () => request.signal,
      address: () => services.address?.(request),
    })
    const names = requestIdHeaders(requestId, surface)
    if (reply.kind === 'stream') {
      services.streams(request)
      const limitIdle = (seconds: number) => services.limitIdle(request, seconds)
      return streamResponse(
        reply.stream,
        { ...reply.headers, ...names },
        limitIdle,
        surface.keepAlive,
      )
    }
    return new Response(reply.body, {
      status: reply.status,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        ...reply.headers,
        ...names,
      },
    })
  }
}
