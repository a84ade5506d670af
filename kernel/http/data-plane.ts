import type { Incoming, Reply, ReplyStream } from '../lifecycle/exchange.ts'
import { type ApiSurface, type Family, GatewayError } from '../plugin/index.ts'
import { type BodyLimits, readBody } from './body.ts'
import { errorResponse } from './error-response.ts'
import { callersRequestId, newRequestId, requestIdHeaders } from './request-id.ts'

export interface DataPlaneServices {
  /** Runs one inference request. Never rejects. */
  infer(incoming: Incoming): Promise<Reply>
  /** What GET /v1/models answers. Throws GatewayError. */
  listModels(header: (name: string) => string | null): Promise<unknown>
  readonly bodyLimits: BodyLimits
  /** Lifts the server's idle timeout from a request whose body has arrived. */
  keepOpen(request: Request): void
}

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
      headers: () => Object.fromEntries(headers),
      async body() {
        const text = await readBody(request, services.bodyLimits)
        services.keepOpen(request)
        return text
      },
      callerLeft: () => request.signal.aborted,
    })
    const names = requestIdHeaders(requestId, apiSurface)
    if (reply.kind === 'stream') return streamResponse(reply.stream, names)
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

const utf8 = new TextEncoder()

function streamResponse(stream: ReplyStream, names: Readonly<Record<string, string>>): Response {
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const text = await stream.next()
        if (text === undefined) controller.close()
        else controller.enqueue(utf8.encode(text))
      },
      cancel() {
        stream.cancel()
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      ...names,
    },
  })
}
