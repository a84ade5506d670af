import type { Logger } from 'pino'
import { internalError } from '../lifecycle/error-body.ts'
import { GatewayError } from '../plugin/index.ts'
import type { AppServices } from './app.ts'
import { createApp } from './app.ts'
import { createClientAddress } from './client-address.ts'
import { type CorsSettings, createCors } from './cors.ts'
import { errorResponse } from './error-response.ts'
import { refuseRewrittenToFit, routesByRawPath } from './raw-path.ts'
import { urlOf } from './request.ts'
import { newRequestId, requestIdOf, setAside } from './request-id.ts'
import { MAX_IDLE_SECS } from './stream-response.ts'

export interface ListenOptions {
  readonly hostname: string
  readonly port: number
  /** Limit for a request body in milliseconds; the server's idle timeout is longer. */
  readonly bodyTimeoutMs: number
  /** Seconds that an idle connection stays open after a reply. */
  readonly keptSecs?: number
  /** Addresses and CIDR ranges of proxies that are trusted for the client address. */
  readonly trustedProxies?: readonly string[]
  /** The gateway makes each request id and logs the caller's id separately. */
  readonly ownRequestIds?: boolean
  readonly cors?: CorsSettings | undefined
  readonly services: Omit<AppServices, 'limitIdle' | 'limitAgain' | 'streams'>
  readonly log: Logger
}

/** The address cannot be used; the message is for the operator. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}

export interface Listening {
  readonly url: string
  /** Refuses new requests, waits up to `graceMs` for running ones, then closes everything. */
  stop(graceMs: number): Promise<void>
}

const POLL_MS = 20

/** Elysia looks for the path of a URL after `http://` and four more characters. */
const ELYSIA_FINDS_PATH = /^http:\/\/[^/]{4}/

/** Copies of requests with a longer host name, because Elysia finds no path in shorter URLs. */
const renamed = new WeakMap<Request, Request>()

function withLongHost(request: Request): Request {
  const { pathname, search } = urlOf(request)
  const copy = new Request(`http://localhost${pathname}${search}`, request)
  renamed.set(copy, request)
  return copy
}

const NO_ADDRESS = 'the name does not resolve to an address of this machine; choose one that does'

/** By system error code: the cause and the remedy. */
const REFUSALS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process uses the port; stop it, or choose another port',
  EADDRNOTAVAIL: 'this machine does not have the address; choose one that it has',
  EACCES: 'this account may not use the port; choose one above 1023',
  EINVAL: NO_ADDRESS,
  ENOTFOUND: NO_ADDRESS,
}

/** Throws ListenError. */
function bind<T>({ hostname, port }: ListenOptions, serve: () => T): T {
  try {
    return serve()
  } catch (error) {
    const refusal = REFUSALS[(error as { code?: string }).code ?? '']
    if (refusal === undefined) throw error
    const address = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
    throw new ListenError(
      `cannot listen on ${address} (server.bind, or GATEWAY_BIND): ${refusal}`,
      { cause: error },
    )
  }
}

/** Throws ListenError. */
export function listen(options: ListenOptions): Listening {
  const asSent = (request: Request) => renamed.get(request) ?? request
  const limitIdle = (request: Request, seconds: number) => server.timeout(asSent(request), seconds)
  // The maximum: if the load balancer closes first, it never sends a call into a closing
  // connection.
  const { keptSecs = MAX_IDLE_SECS } = options
  const limitAgain = (request: Request) => limitIdle(request, keptSecs)
  const streamed = new WeakSet<Request>()
  const streams = (request: Request) => void streamed.add(asSent(request))
  const clientAddress = createClientAddress(options.trustedProxies ?? [])
  const address = (request: Request) =>
    clientAddress(server.requestIP(asSent(request))?.address, request.headers)
  const app = createApp({
    ...options.services,
    limitIdle,
    limitAgain,
    streams,
    address,
  })
  const cors = options.cors && createCors(options.cors)
  function serveChecked(request: Request, check?: () => void) {
    try {
      check?.()
      const preflight = cors?.preflight(request)
      if (preflight !== undefined) return preflight
      return app.fetch(ELYSIA_FINDS_PATH.test(request.url) ? request : withLongHost(request))
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      return errorResponse(error, requestIdOf(request.headers))
    }
  }
  async function answer(request: Request, check?: () => void) {
    if (options.ownRequestIds === true) setAside(request.headers)
    const response = await serveChecked(request, check)
    cors?.open(request, response)
    // Restores a limit that was lifted, because clients that vanish send no close.
    if (!streamed.has(request)) server.timeout(request, keptSecs)
    return response
  }
  const literals = app.routes.map(({ path }) => path).filter((path) => !/[:*]/.test(path))
  const server = bind(options, () =>
    Bun.serve({
      hostname: options.hostname,
      port: options.port,
      // Otherwise Bun logs a reply that fails with code, stack and the full server URL.
      development: false,
      // Otherwise Bun may set it, and two gateways could share a port.
      reusePort: false,
      idleTimeout: Math.min(MAX_IDLE_SECS, Math.ceil(options.bodyTimeoutMs / 1000) + 10),
      // The body size is limited where it is read, with the gateway's error body.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      routes: routesByRawPath(literals, answer),
      fetch: (request) => answer(request, () => refuseRewrittenToFit(request)),
      // Otherwise Bun answers with its own error page, which shows source code.
      error(err) {
        options.log.error({ err }, 'a request could not be answered')
        return errorResponse(internalError(err), newRequestId())
      },
    }),
  )
  return {
    url: server.url.origin,
    async stop(graceMs) {
      const closed = server.stop()
      const deadline = performance.now() + graceMs
      while (server.pendingRequests > 0 && performance.now() < deadline) await Bun.sleep(POLL_MS)
      if (server.pendingRequests > 0) {
        options.log.warn({ requests: server.pendingRequests }, 'closing requests still running')
      }
      await server.stop(true)
      await closed
    },
  }
}
