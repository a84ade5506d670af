import { GatewayError, type Surface } from '../plugin/index.ts'

const VISIBLE_ASCII = /^[\x21-\x7e]{1,128}$/

export function newRequestId(): string {
  return Bun.randomUUIDv7()
}

/** Puts the caller's id under another name: what the request is called is then the gateway's. */
export function setAside(headers: Headers): void {
  const id = headers.get('x-request-id')
  if (id === null) return
  headers.set('x-client-request-id', id)
  headers.delete('x-request-id')
}

/** The caller's id where it can be kept, else a new one: for answers that refuse nothing over it. */
export function requestIdOf(headers: Headers): string {
  const id = headers.get('x-request-id')
  return id !== null && VISIBLE_ASCII.test(id) ? id : newRequestId()
}

/** How a response names its request, for clients of a surface. */
export function requestIdHeaders(
  requestId: string,
  surface?: Surface,
): Readonly<Record<string, string>> {
  const own = { 'x-request-id': requestId }
  try {
    return surface?.headers === undefined ? own : { ...surface.headers(requestId), ...own }
  } catch {
    // A fault of the surface costs nobody the reply.
    return own
  }
}

/** What the caller sent as `x-request-id`, if anything. Throws `invalid_request` for what cannot be kept. */
export function callersRequestId(id: string | null | undefined): string | undefined {
  if (id === null || id === undefined) return undefined
  if (VISIBLE_ASCII.test(id)) return id
  throw new GatewayError(
    'invalid_request',
    'x-request-id: must be 1 to 128 visible ASCII characters; without the header the gateway makes an id',
  )
}
