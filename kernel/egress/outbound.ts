import { lookup } from 'node:dns/promises'
import { connect } from 'node:net'
import {
  type AddressPolicy,
  type Outbound,
  OutboundError,
  type OutboundRequest,
  outboundUrlProblem,
} from '../plugin/index.ts'
import { permits } from './addresses.ts'

const CONNECT_TIMEOUT_MS = 10_000
/** How long a name's addresses, and which of them answers, are remembered. */
const REMEMBER_MS = 10_000
const MOST_REMEMBERED = 1_000

export interface OutboundOptions {
  /** All addresses of a host name. Default: those that the operating system knows. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>
  /** Milliseconds; default 10 000. */
  readonly connectTimeoutMs?: number
}

/** Where a URL leads. */
interface Target {
  readonly url: URL
  readonly hostname: string
  readonly port: number
  /** The URL with a checked address in the place of the host, for the address that was last used. */
  direct: { readonly address: string; readonly href: string } | undefined
}

/** What is known of a host and port for a while, whoever asks; each asker has its own policy. */
interface Known {
  readonly until: number
  readonly addresses: Promise<readonly string[]>
  resolved: readonly string[] | undefined
  /** The address that took a connection; looked for once, by the first who may connect. */
  reaching: Promise<string> | undefined
  reached: string | undefined
}

async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  const found = await lookup(hostname, { all: true })
  return found.map(({ address }) => address)
}

/** The way out to URLs that nobody vouches for. */
export function createOutbound(options: OutboundOptions = {}): Outbound {
  const { resolve = resolveBySystem, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options
  const known = new Map<string, Known>()
  const targets = new Map<string, Target>()

  function targetOf(url: string): Target {
    let target = targets.get(url)
    if (target === undefined) {
      target = parseTarget(url)
      keep(targets, url, target)
    }
    return target
  }

  function keyOf({ hostname, port }: Target): string {
    return `${hostname}:${port}`
  }

  function look(target: Target): Known {
    const key = keyOf(target)
    const now = performance.now()
    const before = known.get(key)
    if (before !== undefined && now < before.until) return before
    const { hostname } = target
    const literal = /^[\d.]+$|^\[/.test(hostname)
    const addresses = literal ? Promise.resolve([unbracketed(hostname)]) : resolve(hostname)
    const entry: Known = {
      until: now + REMEMBER_MS,
      addresses,
      resolved: undefined,
      reaching: undefined,
      reached: undefined,
    }
    addresses.then(
      (found) => {
        entry.resolved = found
      },
      () => forget(key, entry),
    )
    known.delete(key)
    keep(known, key, entry)
    return entry
  }

  function forget(key: string, entry: Known): void {
    if (known.get(key) === entry) known.delete(key)
  }

  function reach(target: Target, entry: Known, addresses: readonly string[]): Promise<string> {
    entry.reaching ??= firstThatAnswers(addresses, target.port, connectTimeoutMs).then(
      (address) => {
        entry.reached = address
        return address
      },
      (error) => {
        forget(keyOf(target), entry)
        throw error
      },
    )
    return entry.reaching
  }

  async function reachChecked(
    target: Target,
    entry: Known,
    policy: AddressPolicy,
    signal: AbortSignal,
  ) {
    const addresses = await within(checked(entry, policy), signal)
    return await within(reach(target, entry, addresses), signal)
  }

  return {
    async check(url, policy) {
      const target = targetOf(url)
      const ends = new AbortController()
      const timer = endAfter(ends, connectTimeoutMs, 'the host name was not resolved in time')
      try {
        await within(checked(look(target), policy), ends.signal)
      } finally {
        clearTimeout(timer)
      }
    },
    async fetch(url, request) {
      const { policy } = request
      const target = targetOf(url)
      const entry = look(target)
      const ends = new AbortController()
      const { signal } = ends
      const onAbort = () => ends.abort(request.signal.reason)
      // It stays: the body of the reply ends with the caller, too.
      if (request.signal.aborted) onAbort()
      else request.signal.addEventListener('abort', onAbort, { once: true })
      const timer = endAfter(ends, request.headersTimeoutMs, 'the server did not answer in time')
      try {
        const { resolved, reached } = entry
        let address = reached
        if (resolved === undefined || address === undefined) {
          address = await reachChecked(target, entry, policy, signal)
        } else requirePermitted(resolved, policy)
        return await fetch(...callTo(target, address, request, signal))
      } catch (error) {
        if (signal.aborted) throw signal.reason
        if (error instanceof OutboundError) throw error
        forget(keyOf(target), entry)
        throw new OutboundError('transport', `the connection failed${codeOf(error)}`, {
          cause: error,
        })
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  if (map.size >= MOST_REMEMBERED) map.delete(map.keys().next().value as string)
  map.set(key, value)
}

/** The addresses of a host, each of them permitted. */
async function checked(entry: Known, policy: AddressPolicy): Promise<readonly string[]> {
  let addresses: readonly string[]
  try {
    addresses = await entry.addresses
  } catch (error) {
    throw new OutboundError('unresolvable', 'the host name cannot be resolved', { cause: error })
  }
  requirePermitted(addresses, policy)
  return addresses
}

function requirePermitted(addresses: readonly string[], policy: AddressPolicy): void {
  if (addresses.length === 0) {
    throw new OutboundError('unresolvable', 'the host name has no address')
  }
  if (addresses.every((address) => permits(policy, address))) return
  throw new OutboundError(
    'address_refused',
    'the host is, or its name resolves to, an address that may not be reached',
  )
}

function callTo(
  target: Target,
  address: string,
  request: OutboundRequest,
  signal: AbortSignal,
): [string, RequestInit] {
  const { url, hostname } = target
  if (target.direct?.address !== address) {
    const direct = new URL(url)
    direct.hostname = address.includes(':') ? `[${address}]` : address
    target.direct = { address, href: direct.href }
  }
  const { method, headers, body } = request
  return [
    target.direct.href,
    {
      method,
      // `fetch` would decompress, and compressed streams arrive in lumps.
      headers: { ...headers, host: url.host, 'accept-encoding': 'identity' },
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      signal,
      // Bun's own limit of five minutes; streams may last longer.
      timeout: false,
      // The certificate has to be the name's, not the address's.
      ...(url.protocol === 'https:' ? { tls: { serverName: unbracketed(hostname) } } : {}),
    } as RequestInit,
  ]
}

/** Throws OutboundError `invalid_url`. */
function parseTarget(text: string): Target {
  const problem = outboundUrlProblem(text)
  if (problem !== undefined) throw new OutboundError('invalid_url', `the URL ${problem}`)
  const url = new URL(text)
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  return { url, hostname: url.hostname, port, direct: undefined }
}

function unbracketed(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
}

function endAfter(ends: AbortController, ms: number, message: string) {
  return setTimeout(() => ends.abort(new OutboundError('timeout', message)), ms)
}

/** `work`, given up when the signal aborts: rejects with its reason. */
async function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/**
 * The first address that takes a connection, each of them given its share of the time. `fetch` has
 * no limit of its own for connecting, and tries one address only.
 */
async function firstThatAnswers(
  addresses: readonly string[],
  port: number,
  timeoutMs: number,
): Promise<string> {
  const endsAt = performance.now() + timeoutMs
  let failure: OutboundError | undefined
  for (const [index, address] of addresses.entries()) {
    const share = (endsAt - performance.now()) / (addresses.length - index)
    try {
      await tryConnection(address, port, share)
      return address
    } catch (error) {
      failure = error as OutboundError
    }
  }
  throw failure
}

function tryConnection(host: string, port: number, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port })
    const timer = setTimeout(() => {
      socket.destroy()
      reject(new OutboundError('timeout', 'the server took no connection in time'))
    }, timeoutMs)
    socket.once('connect', () => {
      clearTimeout(timer)
      socket.destroy()
      resolve()
    })
    socket.once('error', (error) => {
      clearTimeout(timer)
      const message = `the server took no connection${codeOf(error)}`
      reject(new OutboundError('transport', message, { cause: error }))
    })
  })
}
