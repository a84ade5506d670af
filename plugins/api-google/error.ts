import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import type { CallError, WireError } from 'model-gateway/surface'
import { encodeSse } from 'model-gateway/wire'

/** https://google.aip.dev/193 and google/rpc/code.proto: the codes that clients distinguish. */
const STATUSES: ReadonlyMap<number, string> = new Map([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [409, 'ABORTED'],
  [429, 'RESOURCE_EXHAUSTED'],
  [499, 'CANCELLED'],
  [500, 'INTERNAL'],
  [501, 'UNIMPLEMENTED'],
  [504, 'DEADLINE_EXCEEDED'],
])

/** A failure in a stream has no status. */
const IN_STREAM = 502

/** An error in the format of Google's APIs. `details` has the gateway's code. */
export function googleError(error: CallError, requestId: string): WireError {
  const { code, details, gatewayCode, message, param, status = IN_STREAM } = error
  const known: JsonObject = {
    ...details,
    code,
    ...(gatewayCode !== undefined && { gateway_code: gatewayCode }),
    ...(param !== undefined && { param }),
    request_id: requestId,
  }
  const metadata = Object.entries(known).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  const info = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: code.toUpperCase(),
    domain: 'model-gateway',
    metadata: Object.fromEntries(metadata),
  }
  const told = [info, ...retryInfo(details?.resets_at)]
  const body = { error: { code: status, message, status: statusOf(status), details: told } }
  return { body, event: encodeSse(JSON.stringify(body)) }
}

/**
 * When the budget resets. Gemini CLI stops for a wait of some minutes, and retries without this.
 */
function retryInfo(resetsAt: JsonValue | undefined): JsonObject[] {
  const seconds = Math.ceil((Date.parse(String(resetsAt)) - Date.now()) / 1000)
  return seconds > 0
    ? [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` }]
    : []
}

function statusOf(status: number): string {
  return STATUSES.get(status) ?? (status < 500 ? 'INVALID_ARGUMENT' : 'UNAVAILABLE')
}
