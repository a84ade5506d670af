import { GatewayError, type StreamFailure, type Surface, type WireError } from '../plugin/index.ts'
import { callError, plainError } from '../wire/dialect-stream.ts'

/** An error in the format of a surface, or in the OpenAI format without a surface. */
export function wireError(
  error: GatewayError | StreamFailure,
  requestId: string,
  surface?: Surface,
  number?: number,
): WireError {
  const told = { ...callError(error), number }
  try {
    const written = (surface?.error ?? plainError)(told, requestId)
    // Both throw for values that cannot be sent.
    JSON.stringify(written.body)
    new Headers(written.headers)
    return written
  } catch {
    // The surface failed to format it; send the original error in the default format.
    return plainError(told, requestId)
  }
}

/** Sent with a 401, because agents such as Claude Code otherwise retry for minutes. */
export const CHALLENGE = { 'www-authenticate': 'Bearer', 'x-should-retry': 'false' } as const

/** Statuses for which a retry may succeed. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 409, 425, 429])

/**
 * The headers of an error. Whether an upstream's refusal may be retried, the upstream's own headers
 * say.
 */
export function errorHeaders({ status, type, headers }: GatewayError): Record<string, string> {
  const isFinal = type !== 'upstream_error' && status < 500 && !TRANSIENT.has(status)
  return {
    ...(status === 401 ? CHALLENGE : {}),
    ...(isFinal && { 'x-should-retry': 'false' }),
    ...headers,
  }
}

/** The error for the caller of an internal failure, without details. */
export function internalError(cause: unknown): GatewayError {
  return new GatewayError('internal_error', 'internal error; the gateway log has the request id', {
    cause,
  })
}
