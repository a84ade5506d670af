import { errorHeaders, wireError } from '../lifecycle/error-body.ts'
import type { GatewayError, Surface } from '../plugin/index.ts'
import { requestIdHeaders } from './request-id.ts'

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' }

/** The answer to a request that failed before or outside the lifecycle. */
export function errorResponse(error: GatewayError, requestId: string, surface?: Surface): Response {
  const { body, headers } = wireError(error, requestId, surface)
  return new Response(JSON.stringify(body), {
    status: error.status,
    headers: {
      ...JSON_HEADERS,
      ...errorHeaders(error),
      ...headers,
      ...requestIdHeaders(requestId, surface),
    },
  })
}
