import { GatewayError } from '../plugin/index.ts'

/** The URL of a request. Throws `invalid_request` when its `Host` header names no host. */
export function urlOf({ url, headers }: Request): URL {
  // Bun returns only the path if `Host` is invalid or missing (HTTP/1.0).
  const isNameless = url.startsWith('/') && !headers.get('host')
  const parsed = URL.parse(isNameless ? `http://localhost${url}` : url)
  if (parsed !== null) return parsed
  throw new GatewayError('invalid_request', 'host: must be a name or address, with optional port')
}

/** All headers of a request, names in lower case. */
export function headersOf(headers: Headers): Record<string, string> {
  const all: Record<string, string | string[]> = headers.toJSON()
  // Bun returns `set-cookie` as a list; callers have no reason to send it.
  const cookies = all['set-cookie']
  if (Array.isArray(cookies)) all['set-cookie'] = cookies.join(', ')
  return all as Record<string, string>
}
