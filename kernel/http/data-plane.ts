import type { Incoming, Reply, ReplyStream } from '../lifecycle/exchange.ts'
import { type ApiSurface, type Family, GatewayError } from '../plugin/index.ts'
import { type BodyLimits, readBody } from './body.ts'
import { errorResponse } from './error-response.ts'
import { headersOf } from './headers.ts'
import { callersRequestId, newRequestId, requestIdHeaders } from './request-id.ts'

export interface DataPlaneServices {
  /** Runs one inference request. Never rejects. */
  infer(incoming: Incoming): Promise<Reply>
  /** What GET /v1/models answers. Throws GatewayError. */
  listModels(header: (name: string) => string | null): Promise<unknown>
  readonly bodyLimits: BodyLimits
  /** Ends a request between whose bytes so many seconds pass; 0: never. */
  limitIdle(request: Request, seconds: number): void
}

/** How long a caller may read nothing of what waits for it, until it counts as gone. */
const STALLED_SECS = 60

export function createDataPlane(services: DataPlaneServices) {
  async function infer(
    family: Family,
    request: Request,
    apiSurface?: ApiSurface,
  ): Promise<Response> {
    const { headers } = request
    let requestId: string
    let callerChoseRequestId: boolean
    try {
      const chosen = callersRequestId(headers)
      callerChoseRequestId = chosen !== undefined
      requestId = chosen ?? newRequestId()
    } catch (error) {
      if (error instanceof GatewayError) return errorResponse(error, newRequestId(), apiSurface)
      throw error
    }
    const reply = await services.infer({
      requestId,
      callerChoseRequestId,
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
      callerLeft: () => request.signal.aborted,
    })
    const names = requestIdHeaders(requestId, apiSurface)
    if (reply.kind === 'stream') {
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
      const list = await services.listModels((name) => request.headers.get(name))
      return Response.json(list, { headers: { 'x-request-id': requestId } })
    } catch (error) {
      if (error instanceof GatewayError) return errorResponse(error, requestId)
      throw error
    }
  }

  return { infer, models }
}

function streamResponse(
  stream: ReplyStream,
  names: Readonly<Record<string, string>>,
  limitIdle: (seconds: number) => void,
): Response {
  let left = false
  // Writing to the socket by ourselves costs a tenth less than a queue that the engine empties.
  const source: Bun.DirectUnderlyingSource<Uint8Array> = {
    type: 'direct',
    async pull(controller) {
      for (
        let text = await stream.next();
        text !== undefined && !left;
        text = await stream.next()
      ) {
        const taken = controller.write(text)
        controller.flush()
        // A promise when the caller reads too slowly: what waits for it here is bounded.
        if (typeof taken !== 'number') {
          limitIdle(STALLED_SECS)
          await taken
          limitIdle(0)
        }
        if (left) break
      }
      controller.close()
    },
    cancel() {
      if (left) return
      left = true
      stream.cancel()
    },
  }
  // The types of the DOM do not know this kind.
  const body = new ReadableStream(source as unknown as UnderlyingSource)
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      ...names,
    },
  })
}
