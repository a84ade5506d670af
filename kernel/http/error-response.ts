import { errorBody } from '../lifecycle/error-body.ts'
import type { GatewayError } from '../plugin/index.ts'

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' }

/** The answer to a request that failed before or outside the lifecycle. */
export function errorResponse(error: GatewayError, requestId: string): Response {
  return new Response(JSON.stringify(errorBody(error, requestId)), {
    status: error.status,
    headers: { ...JSON_HEADERS, ...error.headers, 'x-request-id': requestId },
  })
}
