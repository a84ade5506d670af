import type { Incoming, Reply } from '../lifecycle/exchange.ts'
import { GatewayError, type Surface } from '../plugin/index.ts'
import { readBody } from './body.ts'
import { callOf, type HttpCallServices } from './http-call.ts'
import { headersOf } from './request.ts'
import { callersRequestId, newRequestId, requestIdHeaders } from './request-id.ts'
import { streamResponse } from './stream-response.ts'

export interface DataPlaneServices extends HttpCallServices {
  /** Runs one inference request. Never rejects. */
  infer(incoming: Incoming): Promise<Reply>
}

/** HTTP handling of surfaces: request ids, bodies, and replies as Bun `Response`s. */
export function createDataPlane(services: DataPlaneServices) {
  /** `params`: the path parameters. */
  return async function infer(
    surface: Surface,
    request: Request,
    params: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const { door } = surface
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
    const call = door && callOf(request, params, requestId, services)
    const reply = await services.infer({
      requestId,
      callerChoseRequestId: chosen !== undefined,
      refusal,
      surface,
      receivedAt: new Date(),
      startedAt: performance.now(),
      headers,
      async body() {
        const text = await (call ? door.read(call) : readBody(request, services.bodyLimits))
        services.limitIdle(request, 0)
        return text
      },
      callerLeft: () => request.signal,
      address: () => services.address?.(request),
    })
    const names = requestIdHeaders(requestId, surface)
    const response = respond(reply, names, surface, request, services)
    return call && door.write ? await door.write(response, call) : response
  }
}

function respond(
  reply: Reply,
  names: Readonly<Record<string, string>>,
  surface: Surface,
  request: Request,
  services: DataPlaneServices,
): Response {
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
