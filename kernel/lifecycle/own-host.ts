import { GatewayError } from '../plugin/index.ts'

/** Where the gateway listens, and under which names it is called. */
export interface Door {
  readonly loopback: boolean
  /** `server.public_base_url` */
  readonly publicBaseUrl: string | undefined
  /** `server.allowed_hosts`, in lower case. */
  readonly allowedHosts?: readonly string[] | undefined
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

/** Whether only some names are accepted, so that a `Host` that passed is one of the gateway's. */
export function checksHost({ loopback, allowedHosts }: Door): boolean {
  return loopback || allowedHosts !== undefined
}

/**
 * Refuses requests under a name that is not the gateway's: a page can have its own name resolve to
 * this machine (DNS rebinding), but its requests then carry that name. Throws `csrf_rejected`.
 */
export function requireOwnHost(host: string | null, door: Door): void {
  if (!checksHost(door) || isOwnHost(host, door)) return
  throw new GatewayError(
    'csrf_rejected',
    `Host: ${host === null ? 'is missing' : `"${host}" is not a name of this gateway`}; name it in server.allowed_hosts or server.public_base_url`,
  )
}

function isOwnHost(host: string | null, { publicBaseUrl, allowedHosts = [] }: Door): boolean {
  if (host === null) return false
  if (LOOPBACK.test(host)) return true
  const name = host.toLowerCase()
  // An entry without a port fits every port.
  if (allowedHosts.includes(name) || allowedHosts.includes(name.replace(/:\d+$/, ''))) return true
  if (publicBaseUrl === undefined) return false
  const own = new URL(publicBaseUrl)
  // The default port may be stated.
  return name.replace(own.protocol === 'https:' ? /:443$/ : /:80$/, '') === own.host
}
