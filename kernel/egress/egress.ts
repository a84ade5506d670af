import { type Egress, GatewayError, type ProviderCall } from '../plugin/index.ts'

/** Headers that only the gateway sets on its way out. */
function gatewayHeaders(call: ProviderCall): Record<string, string> {
  const headers: Record<string, string> = {
    // `fetch` would decompress but leave the header, and compressed streams arrive in lumps.
    'accept-encoding': 'identity',
    'x-request-id': call.requestId,
  }
  if (call.traceparent !== undefined) headers['traceparent'] = call.traceparent
  return headers
}

/** What went wrong on the way, in words that name no address. */
function transportError(error: unknown): GatewayError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  return new GatewayError(
    'upstream_transport',
    `the provider could not be reached${code === undefined ? '' : ` (${code})`}`,
    { cause: error },
  )
}

/** The only way out to providers. `proxy` is the operator's egress proxy. */
export function createEgress(proxy: string | undefined): Egress {
  return {
    async send(call, url, init) {
      let response: Response
      try {
        response = await fetch(url, {
          method: init.method ?? 'POST',
          headers: { ...init.headers, ...gatewayHeaders(call) },
          ...(init.body === undefined ? {} : { body: init.body }),
          redirect: 'manual',
          signal: call.signal,
          // Bun's own limit of five minutes; the watchdog keeps the time here.
          timeout: false,
          ...(proxy === undefined ? {} : { proxy }),
        } as RequestInit)
      } catch (error) {
        if (call.signal.aborted) throw call.signal.reason
        throw transportError(error)
      }
      call.alive()
      return response
    },
  }
}

const PROXY_VARIABLES = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy']

/**
 * Takes the proxy variables out of the environment: with one set, `fetch` connects to the proxy
 * even when it was given an address that had been checked.
 */
export function removeProxyVariables(env: Record<string, string | undefined>): void {
  for (const name of PROXY_VARIABLES) {
    delete env[name]
    delete env[name.toUpperCase()]
  }
}
