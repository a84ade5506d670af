import ipaddr, { type IPv4, IPv6 } from 'ipaddr.js'
import type { AddressPolicy } from '../plugin/index.ts'

/** Address ranges that `allowPrivate` permits. */
const PRIVATE = new Set(['loopback', 'private', 'carrierGradeNat', 'linkLocal', 'uniqueLocal'])

/** Metadata services of clouds, which hand out credentials; some in public or private ranges. */
const METADATA = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
])

/** The part of IPv6 that is publicly routed. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

/** IPv6 forms that contain an IPv4 address, with the byte at which it begins. */
const CARRIERS: readonly (readonly [range: ReturnType<typeof ipaddr.parseCIDR>, at: number])[] = [
  [ipaddr.parseCIDR('::ffff:0:0/96'), 12],
  [ipaddr.parseCIDR('::/96'), 12],
  [ipaddr.parseCIDR('::ffff:0:0:0/96'), 12],
  [ipaddr.parseCIDR('64:ff9b::/96'), 12],
  [ipaddr.parseCIDR('2002::/16'), 2],
]

/** Whether a policy permits connections to an IP address. */
export function permits(policy: AddressPolicy, address: string): boolean {
  // An address with a zone is link-local to one interface, and URLs cannot contain it.
  if (address.includes('%') || !ipaddr.isValid(address)) return false
  return permitsParsed(policy, ipaddr.parse(address))
}

function permitsParsed(policy: AddressPolicy, address: IPv4 | IPv6): boolean {
  const inner = carriedBy(address)
  if (inner !== undefined) {
    const opened = policy.allowPrivate || isAllowed(policy, address) || isAllowed(policy, inner)
    return opened && permitsParsed(policy, inner)
  }
  if (isPublic(address)) return true
  if (isAllowed(policy, address)) return true
  return policy.allowPrivate && PRIVATE.has(address.range()) && !METADATA.has(address.toString())
}

function isPublic(address: IPv4 | IPv6): boolean {
  if (METADATA.has(address.toString()) || address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST)
}

function isAllowed({ allowedCidrs }: AddressPolicy, address: IPv4 | IPv6): boolean {
  return allowedCidrs.some((cidr) => {
    const range = ipaddr.parseCIDR(cidr)
    return range[0].kind() === address.kind() && address.match(range)
  })
}

/** The IPv4 address inside an IPv6 address, except for `::` and `::1`. */
function carriedBy(address: IPv4 | IPv6): IPv4 | undefined {
  if (!(address instanceof IPv6)) return undefined
  if (address.range() === 'loopback' || address.range() === 'unspecified') return undefined
  const carrier = CARRIERS.find(([range]) => address.match(range))
  if (carrier === undefined) return undefined
  const bytes = address.toByteArray().slice(carrier[1], carrier[1] + 4)
  return ipaddr.fromByteArray(bytes) as IPv4
}
