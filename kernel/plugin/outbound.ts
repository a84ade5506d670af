/** Which addresses may be reached beside those that are public. */
export interface AddressPolicy {
  /**
   * Loopback, private, carrier-grade NAT, link-local and unique local addresses. Metadata services,
   * multicast and reserved addresses still need a range of their own in `allowedCidrs`.
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
   * Longest time from the call to the head of the reply, in milliseconds. Absent: the caller keeps
   * the time, by its signal.
   */
  readonly headersTimeoutMs?: number
  /** Ends the call, and the body of its reply. */
  readonly signal: AbortSignal
}

export type OutboundFault =
  /** Not http or https, or with user info or a fragment. */
  | 'invalid_url'
  /** One of its addresses may not be reached. */
  | 'address_refused'
  | 'unresolvable'
  /** No connection in time, or no head of a reply. */
  | 'timeout'
  | 'transport'

/** A call that did not get out, or came to nothing. The message names no address. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError'
  readonly fault: OutboundFault
  constructor(fault: OutboundFault, message: string, options?: ErrorOptions) {
    super(message, options)
    this.fault = fault
  }
}

/** Why a text is no URL that `Outbound` takes, if it is none. Where it leads is another question. */
export function outboundUrlProblem(text: string): string | undefined {
  // What a URL parser would strip, fold or turn around can hide from a reader where it leads.
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
 * The way out to URLs that did not come from the operator's config file. A name is resolved, all its
 * addresses are checked, and the connection goes to a checked one; no redirect is followed and no
 * proxy is used.
 */
export interface Outbound {
  /** Resolves and checks without connecting. Throws OutboundError. */
  check(url: string, policy: AddressPolicy): Promise<void>
  /**
   * One HTTP call. Whatever the status, a redirect too, the reply is returned with its body unread.
   * Throws OutboundError, or the signal's reason when that ended it.
   */
  fetch(url: string, request: OutboundRequest): Promise<Response>
}
