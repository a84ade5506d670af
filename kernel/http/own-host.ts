import { type Door, GatewayError } from '../plugin/index.ts'

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

export interface DoorSettings {
  /** What the gateway listens on. */
  readonly hostname: string
  readonly publicBaseUrl: string | undefined
  /** In lower case. */
  readonly allowedHosts: readonly string[] | undefined
}

export function createDoor(settings: DoorSettings, draining: AbortSignal): Door {
  const { hostname, publicBaseUrl, allowedHosts } = settings
  const loopback = hostname === 'localhost' || hostname === '::1' || hostname.startsWith('127.')
  const checksHost = loopback || allowedHosts !== undefined
  return {
    loopback,
    publicBaseUrl,
    checksHost,
    draining,
    // Against DNS rebinding: a page can resolve its own name to this machine, but its requests then
    // carry that name in `Host`.
    requireOwnHost(host) {
      if (!checksHost || isOwnHost(host, settings)) return
      throw new GatewayError(
        'csrf_rejected',
        `Host: ${host === null ? 'is missing' : `"${host}" is not a name of this gateway`}; add it to server.allowed_hosts or server.public_base_url`,
      )
    },
  }
}

function isOwnHost(
  host: string | null,
  { publicBaseUrl, allowedHosts = [] }: DoorSettings,
): boolean {
  if (host === null) return false
  if (LOOPBACK.test(host)) return true
  const name = host.toLowerCase()
  // An entry without a port matches every port.
  if (allowedHosts.includes(name) || allowedHosts.includes(name.replace(/:\d+$/, ''))) return true
  if (publicBaseUrl === undefined) return false
  const own = new URL(publicBaseUrl)
  // The client may send the default port.
  return name.replace(own.protocol === 'https:' ? /:443$/ : /:80$/, '') === own.host
}
