import { lookup } from 'node:dns/promises'
import { type AddressPolicy, inTime, OutboundError, outboundUrlProblem } from '../plugin/index.ts'
import { permits } from './addresses.ts'
import { codeOf, firstThatAnswers } from './connect.ts'

const CONNECT_TIMEOUT_MS = 10_000
/** How long addresses of a name, and which of them answers, are cached. */
const REMEMBER_MS = 10_000
const MOST_REMEMBERED = 1_000

export interface GateOptions {
  /** Resolves a host name to all its addresses. Default: the resolver of the system. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>
  /** Milliseconds; default 10 000. */
  readonly connectTimeoutMs?: number
}

/** One HTTP call through the gate. */
export interface GateCall {
  readonly method: string
  /** `host` and `accept-encoding` are set by the gate. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | ReadableStream
  /** `operator`: the URL comes from the config file, which may name any address. */
  readonly policy: AddressPolicy | 'operator'
  /** Ends the call and the body of its reply. The caller enforces the timeout. */
  readonly signal: AbortSignal
  /** The operator's proxy; only for URLs from the config. */
  readonly proxy?: string
}

/**
 * All upstream calls go through here: http or https, no user info, no redirects, no encoded bodies.
 * For URLs that are not from the operator, the name is resolved, all its addresses are checked, and
 * the connection goes to a checked address.
 */
export interface Gate {
  /** Resolves and checks a URL without connecting. Throws OutboundError. */
  check(url: string, policy: AddressPolicy): Promise<void>
  /** Returns the reply once its headers are there. Throws OutboundError or the signal's reason. */
  send(url: string, call: GateCall): Promise<Response>
}

/** Cached facts about a host and port, shared by all callers; each caller has its own policy. */
interface Known {
  readonly until: number
  readonly addresses: Promise<readonly string[]>
  /** The address that accepted a connection; found once, by the first caller that may connect. */
  reaching: Promise<string> | undefined
  /** The result for the last policy; policies are immutable, so it stays valid. */
  last: { readonly policy: AddressPolicy; readonly address: string } | undefined
}

async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  const found = await lookup(hostname, { all: true })
  return found.map(({ address }) => address)
}

/** `options` apply to URLs that are not from the operator. */
export function createGate(options: GateOptions = {}): Gate {
  const { resolve = resolveBySystem, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options
  const known = new Map<string, Known>()

  function look(url: URL): Known {
    const key = keyOf(url)
    const now = performance.now()
    const before = known.get(key)
    if (before !== undefined && now < before.until) return before
    const { hostname } = url
    const literal = /^[\d.]+$|^\[/.test(hostname)
    const addresses = literal ? Promise.resolve([unbracketed(hostname)]) : resolve(hostname)
    const entry: Known = {
      until: now + REMEMBER_MS,
      addresses,
      reaching: undefined,
      last: undefined,
    }
    addresses.catch(() => forget(url, entry))
    known.delete(key)
    if (known.size >= MOST_REMEMBERED) known.delete(known.keys().next().value as string)
    known.set(key, entry)
    return entry
  }

  function forget(url: URL, entry: Known): void {
    if (known.get(keyOf(url)) === entry) known.delete(keyOf(url))
  }

  function reach(url: URL, entry: Known, addresses: readonly string[]): Promise<string> {
    entry.reaching ??= firstThatAnswers(addresses, portOf(url), connectTimeoutMs).catch((error) => {
      forget(url, entry)
      throw error
    })
    return entry.reaching
  }

  /** The address to connect to. */
  async function addressFor(
    url: URL,
    entry: Known,
    policy: AddressPolicy,
    signal: AbortSignal,
  ): Promise<string> {
    const reaching = checked(entry, policy).then((addresses) => {
      signal.throwIfAborted()
      return reach(url, entry, addresses)
    })
    const reached = await inTime(reaching, signal)
    if (reached === undefined) throw signal.reason
    entry.last = { policy, address: reached.value }
    return reached.value
  }

  return {
    async check(url, policy) {
      const done = await inTime(checked(look(parse(url)), policy), connectTimeoutMs)
      if (done !== undefined) return
      throw new OutboundError('timeout', 'the host name was not resolved in time')
    },
    async send(url, call) {
      const { policy, signal } = call
      let target: URL | undefined
      let entry: Known | undefined
      try {
        if (policy === 'operator') {
          requireOperatorUrl(url)
          return await fetch(url, {
            ...initOf(call),
            headers: { ...call.headers, 'accept-encoding': 'identity' },
            ...(call.proxy === undefined ? {} : { proxy: call.proxy }),
          })
        }
        target = parse(url)
        entry = look(target)
        const address =
          entry.last?.policy === policy
            ? entry.last.address
            : await addressFor(target, entry, policy, signal)
        return await fetch(withHost(target, address), {
          ...initOf(call),
          headers: { ...call.headers, host: target.host, 'accept-encoding': 'identity' },
          // The certificate is checked against the host name, not the address.
          ...(target.protocol === 'https:'
            ? { tls: { serverName: unbracketed(target.hostname) } }
            : {}),
        })
      } catch (error) {
        if (signal.aborted) throw signal.reason
        if (error instanceof OutboundError) throw error
        if (target !== undefined && entry !== undefined) forget(target, entry)
        throw new OutboundError('transport', `the connection failed${codeOf(error)}`, {
          cause: error,
        })
      }
    },
  }
}

/** Options of every `fetch`. */
function initOf({ method, body, signal }: GateCall): RequestInit {
  return {
    method,
    ...(body === undefined ? {} : { body }),
    redirect: 'manual',
    signal,
    // Turns off Bun's limit of five minutes; streams may last longer, and callers enforce timeouts.
    timeout: false,
  } as RequestInit
}

/** Returns the addresses of a host. Throws if the policy does not permit all of them. */
async function checked(entry: Known, policy: AddressPolicy): Promise<readonly string[]> {
  let addresses: readonly string[]
  try {
    addresses = await entry.addresses
  } catch (error) {
    throw new OutboundError('unresolvable', 'the host name cannot be resolved', { cause: error })
  }
  if (addresses.length === 0) {
    throw new OutboundError('unresolvable', 'the host name has no address')
  }
  if (addresses.every((address) => permits(policy, address))) return addresses
  throw new OutboundError(
    'address_refused',
    'the host is, or its name resolves to, an address that the gateway may not connect to',
  )
}

/** The URL with the address instead of the host name. */
function withHost(url: URL, address: string): string {
  const direct = new URL(url)
  direct.hostname = address.includes(':') ? `[${address}]` : address
  return direct.href
}

/** http or https, no user info, no fragment. */
const OPERATOR_URL = /^https?:\/\/[^\s/?#@\\]+(?:[/?][^\s#]*)?$/i

/** Parses a URL from the config, with any host name. Throws OutboundError `invalid_url`. */
function requireOperatorUrl(url: string): void {
  if (OPERATOR_URL.test(url)) return
  const message = 'the URL must be http or https, without user info and fragment'
  throw new OutboundError('invalid_url', message)
}

/** Throws OutboundError `invalid_url`. */
function parse(text: string): URL {
  const problem = outboundUrlProblem(text)
  if (problem !== undefined) throw new OutboundError('invalid_url', `the URL ${problem}`)
  return new URL(text)
}

function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === 'https:' ? 443 : 80))
}

function keyOf(url: URL): string {
  return `${url.hostname}:${portOf(url)}`
}

function unbracketed(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}
