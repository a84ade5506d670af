import { GatewayError } from 'model-gateway/plugin'
import type { McpIncoming, McpServices } from './exchange.ts'

/** Rejects requests of web pages from other origins. Throws `csrf_rejected`. */
export function requireOwnOrigin(
  { header }: McpIncoming,
  { door, registry }: Pick<McpServices, 'door' | 'registry'>,
): void {
  const host = header('host')
  door.requireOwnHost(host)
  const origin = header('origin')
  const { publicBaseUrl } = door
  if (origin === null) return
  if (publicBaseUrl !== undefined && origin === new URL(publicBaseUrl).origin) return
  if (door.checksHost && (origin === `http://${host}` || origin === `https://${host}`)) return
  if (registry?.allowedOrigins().includes(origin) === true) return
  throw new GatewayError('csrf_rejected', 'Origin: is not in mcp.allowed_origins')
}
