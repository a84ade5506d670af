import { GatewayError, type StreamFailure, type Surface, type WireError } from '../plugin/index.ts'
import { callError, plainError } from '../wire/dialect-stream.ts'

/** An error in the shape that callers of a surface read; without one in that of most of them. */
export function wireError(
  error: GatewayError | StreamFailure,
  requestId: string,
  surface?: Surface,
  number?: number,
): WireError {
  const told = { ...callError(error), number }
  try {
    const written = (surface?.error ?? plainError)(told, requestId)
    // Both throw for what cannot be sent.
    JSON.stringify(written.body)
    new Headers(written.headers)
    return written
  } catch {
    // A fault of the surface, beside the error that the caller is to hear of.
    return plainError(told, requestId)
  }
}

/** Goes with a 401: agents such as Claude Code ask again for minutes unless they are told not to. */
export const CHALLENGE = { 'www-authenticate': 'Bearer', 'x-should-retry': 'false' } as const

/** Statuses with which another try may go well. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 409, 425, 429])

/**
 * The headers that belong to an error. Whether to try what an upstream refuses again is its own to say.
 */
export function errorHeaders({ status, type, headers }: GatewayError): Record<string, string> {
  const isFinal = type !== 'upstream_error' && status < 500 && !TRANSIENT.has(status)
  return {
    ...(status === 401 ? CHALLENGE : {}),
    ...(isFinal && { 'x-should-retry': 'false' }),
    ...headers,
  }
}

/** What the caller is told of a fault that is not the caller's business. */
export function internalError(cause: unknown): GatewayError {
  return new GatewayError('internal_error', 'internal error; the gateway log has the request id', {
    cause,
  })
}
