import { GatewayError } from '../plugin/index.ts'
import type { McpIncoming, McpServices } from './mcp-exchange.ts'

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

/**
 * Refuses pages that may not call. On a loopback address the `Host` is looked at as well: a page
 * can have its own name resolve to this machine, but not the name that its requests then carry.
 * Throws `csrf_rejected`.
 */
export function requireOwnOrigin(
  { header }: McpIncoming,
  { door, registry }: Pick<McpServices, 'door' | 'registry'>,
): void {
  const host = header('host')
  if (door.loopback && !isOwnHost(host, door)) {
    throw new GatewayError('csrf_rejected', 'Host: is not the name of this gateway')
  }
  const origin = header('origin')
  if (origin === null || origin === publicUrl(door)?.origin) return
  if (door.loopback && (origin === `http://${host}` || origin === `https://${host}`)) return
  if (registry?.allowedOrigins().includes(origin) === true) return
  throw new GatewayError('csrf_rejected', 'Origin: is not in mcp.allowed_origins')
}

function isOwnHost(host: string | null, door: McpServices['door']): boolean {
  if (host === null) return false
  if (LOOPBACK.test(host)) return true
  const own = publicUrl(door)
  if (own === undefined) return false
  // A port that goes without saying may be said.
  return host.toLowerCase().replace(own.protocol === 'https:' ? /:443$/ : /:80$/, '') === own.host
}

function publicUrl({ publicBaseUrl }: McpServices['door']): URL | undefined {
  return publicBaseUrl === undefined ? undefined : new URL(publicBaseUrl)
}
