import { type Egress, GatewayError, type ProviderCall } from 'model-gateway/plugin'

/** Egress over real sockets, as little of it as a provider on its own needs. */
export function createTestEgress(): Egress {
  return {
    async send(call, url, init) {
      let response: Response
      try {
        response = await fetch(url, {
          method: init.method ?? 'GET',
          headers: {
            ...init.headers,
            'accept-encoding': 'identity',
            'x-request-id': call.requestId,
            ...(call.traceparent === undefined ? {} : { traceparent: call.traceparent }),
          },
          ...(init.body === undefined ? {} : { body: init.body as BodyInit }),
          redirect: 'manual',
          signal: call.signal,
        })
      } catch (error) {
        throw failure(error, call)
      }
      call.alive()
      const body = response.body === null ? null : watched(response.body, call)
      return new Response(body, { status: response.status, headers: response.headers })
    },
  }
}

/** The same bytes, with signs of life for the watchdog and GatewayErrors for broken connections. */
function watched(source: ReadableStream<Uint8Array>, call: ProviderCall) {
  const reader = source.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done) return controller.close()
          call.alive()
          controller.enqueue(value)
        } catch (error) {
          controller.error(failure(error, call))
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

function failure(error: unknown, call: ProviderCall): GatewayError {
  const { aborted, reason } = call.signal
  if (aborted && reason instanceof GatewayError) return reason
  return new GatewayError('upstream_transport', 'the connection to the upstream broke off', {
    cause: error,
  })
}
