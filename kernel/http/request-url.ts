import { GatewayError } from '../plugin/index.ts'

/** Where a request goes. Throws `invalid_request` when its `Host` header names no host. */
export function urlOf({ url, headers }: Request): URL {
  // Bun gives the path alone for a host that it cannot take, and where there is none: HTTP/1.0.
  const isNameless = url.startsWith('/') && !headers.get('host')
  const parsed = URL.parse(isNameless ? `http://localhost${url}` : url)
  if (parsed !== null) return parsed
  throw new GatewayError('invalid_request', 'host: must be a name or an address, and a port if any')
}
