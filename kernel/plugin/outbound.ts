/** Which non-public addresses are permitted. */
export interface AddressPolicy {
  /**
   * Loopback, private, carrier-grade NAT, link-local and unique local addresses. Metadata services,
   * multicast and reserved addresses still need a range in `allowedCidrs`.
   */
  readonly allowPrivate: boolean
  /** `10.2.0.0/16`, `fd00::/8` */
  readonly allowedCidrs: readonly string[]
}

export interface OutboundRequest {
  readonly method: string
  /** `host` and `accept-encoding` are set by the gate. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly policy: AddressPolicy
  /**
   * Limit from the call to the reply's headers, in milliseconds. Absent: the caller enforces a
   * limit by its signal.
   */
  readonly headersTimeoutMs?: number
  /** Ends the call and the body of its reply. */
  readonly signal: AbortSignal
}

export type OutboundFault =
  /** Not http or https, or with user info or a fragment. */
  | 'invalid_url'
  /** One of its addresses is not permitted. */
  | 'address_refused'
  | 'unresolvable'
  /** No connection in time, or no reply headers in time. */
  | 'timeout'
  | 'transport'

/** A call was refused or failed. The message names no address. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError'
  readonly fault: OutboundFault
  constructor(fault: OutboundFault, message: string, options?: ErrorOptions) {
    super(message, options)
    this.fault = fault
  }
}

/** Why `Outbound` would refuse a URL by its form; undefined if it would not. */
export function outboundUrlProblem(text: string): string | undefined {
  // Characters that URL parsers strip or convert can hide the real target from a reader.
  if (!/^[\x21-\x7e]+$/.test(text) || text.includes('\\')) {
    return 'must be a URL in ASCII, international names as xn--…'
  }
  const url = URL.parse(text)
  if (url === null) return 'must be an absolute URL, such as https://mcp.example.com/mcp'
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return 'must begin with http:// or https://'
  }
  if (!/^https?:\/\/[^/]/i.test(text) || url.port === '0') return 'must name a host'
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return 'must not contain user info'
  return text.includes('#') ? 'must not contain a fragment' : undefined
}

/**
 * Calls URLs that are not from the operator's config. The name is resolved, all its addresses are
 * checked, and the connection goes to a checked address; redirects are not followed and no proxy is
 * used.
 */
export interface Outbound {
  /** Resolves and checks a URL without connecting. Throws OutboundError. */
  check(url: string, policy: AddressPolicy): Promise<void>
  /**
   * Makes one HTTP call. Returns the reply with its body unread, whatever its status, including
   * redirects. Throws OutboundError, or the signal's reason if the signal ended it.
   */
  fetch(url: string, request: OutboundRequest): Promise<Response>
}
