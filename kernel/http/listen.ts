import type { Logger } from 'pino'
import type { AppServices } from './app.ts'
import { createApp } from './app.ts'

export interface ListenOptions {
  readonly hostname: string
  readonly port: number
  /** Milliseconds a request body may take; the server's own idle timeout stays above it. */
  readonly bodyTimeoutMs: number
  readonly services: Omit<AppServices, 'keepOpen' | 'admin' | 'mcp'> & {
    readonly admin: Omit<AppServices['admin'], 'address' | 'keepOpen'>
    readonly mcp: Omit<AppServices['mcp'], 'keepOpen'>
  }
  readonly log: Logger
}

export interface Listening {
  readonly url: string
  /** Takes no new requests, waits up to `graceMs` for the running ones, then closes everything. */
  stop(graceMs: number): Promise<void>
}

/** Longest idle time that Bun lets a server have, in seconds. */
const MAX_IDLE_SECS = 255
const POLL_MS = 20

/** Where Elysia begins to look for the path of a URL: behind `http://` and four more characters. */
const ELYSIA_PATH_START = 11

/** Requests under a longer host name, by which alone Elysia finds their path. */
const renamed = new WeakMap<Request, Request>()

function withLongHost(request: Request): Request {
  const url = new URL(request.url)
  const copy = new Request(`http://localhost${url.pathname}${url.search}`, request)
  renamed.set(copy, request)
  return copy
}

export function listen(options: ListenOptions): Listening {
  const keepOpen = (request: Request) => server.timeout(renamed.get(request) ?? request, 0)
  const app = createApp({
    ...options.services,
    keepOpen,
    mcp: { ...options.services.mcp, keepOpen },
    admin: {
      ...options.services.admin,
      keepOpen,
      address: (request) => server.requestIP(renamed.get(request) ?? request)?.address,
    },
  })
  const server = Bun.serve({
    hostname: options.hostname,
    port: options.port,
    idleTimeout: Math.min(MAX_IDLE_SECS, Math.ceil(options.bodyTimeoutMs / 1000) + 10),
    // Bodies are limited where they are read, with an error body of ours.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch: (request) =>
      app.fetch(request.url.indexOf('/', 7) < ELYSIA_PATH_START ? withLongHost(request) : request),
  })
  return {
    url: `http://${server.hostname}:${server.port}`,
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
