import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js'

type Address = IPv4 | IPv6

/**
 * Returns the client address of a call. Proxy headers count only if the connection comes from one
 * of `trusted` (addresses and CIDR ranges). The result is then the right-most address that is not
 * trusted, because everything left of it may be forged. An unreadable entry ends the search.
 */
export function createClientAddress(trusted: readonly string[]) {
  const ranges = trusted.map(rangeOf)
  const isTrusted = (address: Address) =>
    ranges.some((range) => range[0].kind() === address.kind() && address.match(range))

  function lastUntrusted(peer: Address, hops: readonly string[]): Address {
    let last = peer
    for (const hop of hops.toReversed()) {
      const address = parse(withoutPort(hop))
      if (address === undefined) return last
      last = address
      if (!isTrusted(address)) return last
    }
    return last
  }

  return function clientAddress(peer: string | undefined, headers: Headers): string | undefined {
    if (ranges.length === 0 || peer === undefined) return peer
    const address = parse(peer)
    if (address === undefined || !isTrusted(address)) return peer
    const chains = [
      headers.get('x-forwarded-for')?.split(','),
      headers.get('forwarded')?.split(',').map(forOf),
    ].filter((chain) => chain !== undefined)
    const found = chains.map((chain) => lastUntrusted(address, chain).toString())
    const [first, second] = found
    if (first === undefined) return peer
    // A proxy sets one of these headers and may pass the other on unchanged, so a caller can forge
    // that.
    return second === undefined || second === first ? first : address.toString()
  }
}

function rangeOf(text: string): [Address, number] {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text)
  const address = ipaddr.process(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

/** IPv4 in IPv6 becomes IPv4. */
function parse(text: string): Address | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined
}

/** `203.0.113.7:4711` and `[2001:db8::7]:4711`, as some proxies write. */
function withoutPort(hop: string): string {
  const text = hop.trim()
  return /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
}

/** The address in an element of `Forwarded`, if it has one. */
function forOf(element: string): string {
  for (const pair of element.split(';')) {
    const [, value] = /^\s*for\s*=\s*"?([^"]*)"?\s*$/i.exec(pair) ?? []
    if (value !== undefined) return value
  }
  return ''
}
