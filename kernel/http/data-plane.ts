import type { Incoming, Reply } from '../lifecycle/exchange.ts'
import { type ApiSurface, type Family, GatewayError, type KeyShown } from '../plugin/index.ts'
import { type BodyLimits, readBody } from './body.ts'
import { errorResponse } from './error-response.ts'
import { headersOf } from './request.ts'
import { callersRequestId, newRequestId, requestIdHeaders } from './request-id.ts'
import { streamResponse } from './stream-response.ts'

export interface DataPlaneServices {
  /** Runs one inference request. Never rejects. */
  infer(incoming: Incoming): Promise<Reply>
  /** What GET /v1/models answers. Throws GatewayError. */
  listModels(shown: KeyShown): Promise<unknown>
  readonly bodyLimits: BodyLimits
  /** Where a request comes from. */
  address?(request: Request): string | undefined
  /** Ends a request between whose bytes so many seconds pass; 0: never. */
  limitIdle(request: Request, seconds: number): void
  /** Its reply is a stream, which puts the limit back when it has ended. */
  streams(request: Request): void
}

export function createDataPlane(services: DataPlaneServices) {
  async function infer(
    family: Family,
    request: Request,
    apiSurface?: ApiSurface,
  ): Promise<Response> {
    const { headers } = request
    let chosen: string | undefined
    let refusal: GatewayError | undefined
    try {
      chosen = callersRequestId(headers)
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      refusal = error
    }
    const requestId = chosen ?? newRequestId()
    const reply = await services.infer({
      requestId,
      callerChoseRequestId: chosen !== undefined,
      refusal,
      family,
      apiSurface,
      receivedAt: new Date(),
      startedAt: performance.now(),
      header: (name) => headers.get(name),
      headers: () => headersOf(headers),
      async body() {
        const text = await readBody(request, services.bodyLimits)
        services.limitIdle(request, 0)
        return text
      },
      callerLeft: () => request.signal,
      address: () => services.address?.(request),
    })
    const names = requestIdHeaders(requestId, apiSurface)
    if (reply.kind === 'stream') {
      services.streams(request)
      return streamResponse(reply.stream, { ...reply.headers, ...names }, (seconds) =>
        services.limitIdle(request, seconds),
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

  async function models(request: Request): Promise<Response> {
    let requestId = newRequestId()
    try {
      requestId = callersRequestId(request.headers) ?? requestId
      const list = await services.listModels({
        requestId,
        header: (name) => request.headers.get(name),
        address: () => services.address?.(request),
      })
      return Response.json(list, { headers: { 'x-request-id': requestId } })
    } catch (error) {
      if (error instanceof GatewayError) return errorResponse(error, requestId)
      throw error
    }
  }

  return { infer, models }
}
