import { GatewayError, type Surface } from '../plugin/index.ts'

const VISIBLE_ASCII = /^[\x21-\x7e]{1,128}$/

export function newRequestId(): string {
  return Bun.randomUUIDv7()
}

/** Moves the caller's id to another header, so that the gateway makes the request id. */
export function setAside(headers: Headers): void {
  const id = headers.get('x-request-id')
  if (id === null) return
  headers.set('x-client-request-id', id)
  headers.delete('x-request-id')
}

/** The caller's id if it is valid, else a new one; for replies that must not fail over it. */
export function requestIdOf(headers: Headers): string {
  const id = headers.get('x-request-id')
  return id !== null && VISIBLE_ASCII.test(id) ? id : newRequestId()
}

/** The headers that carry the request id, for clients of a surface. */
export function requestIdHeaders(
  requestId: string,
  surface?: Surface,
): Readonly<Record<string, string>> {
  const own = { 'x-request-id': requestId }
  try {
    return surface?.headers === undefined ? own : { ...surface.headers(requestId), ...own }
  } catch {
    // A failure of the surface must not fail the reply.
    return own
  }
}

/** The caller's `x-request-id`, if any. Throws `invalid_request` if it is not valid. */
export function callersRequestId(id: string | null | undefined): string | undefined {
  if (id === null || id === undefined) return undefined
  if (VISIBLE_ASCII.test(id)) return id
  throw new GatewayError(
    'invalid_request',
    'x-request-id: must be 1 to 128 visible ASCII characters; without the header the gateway makes an id',
  )
}
