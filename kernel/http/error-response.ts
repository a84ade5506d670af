import { errorHeaders, wireError } from '../lifecycle/error-body.ts'
import type { GatewayError, Surface } from '../plugin/index.ts'
import { requestIdHeaders } from './request-id.ts'

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' }

/** The answer to a request that failed before or outside the lifecycle. */
export function errorResponse(error: GatewayError, requestId: string, surface?: Surface): Response {
  return new Response(JSON.stringify(wireError(error, requestId, surface).body), {
    status: error.status,
    headers: {
      ...JSON_HEADERS,
      ...errorHeaders(error),
      ...requestIdHeaders(requestId, surface),
    },
  })
}
