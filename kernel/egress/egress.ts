import { type Egress, GatewayError, type ProviderCall } from '../plugin/index.ts'

/** Headers that only the gateway sets on its way out. */
function gatewayHeaders(call: ProviderCall): Record<string, string> {
  const headers: Record<string, string> = {
    // `fetch` would decompress but leave the header, and compressed streams arrive in lumps.
    'accept-encoding': 'identity',
    'x-request-id': call.requestId,
  }
  if (call.traceparent !== undefined) headers.traceparent = call.traceparent
  return headers
}

/** Why the call failed, in words that name no address. */
function transportError(call: ProviderCall, what: string, error: unknown): unknown {
  if (call.signal.aborted) return call.signal.reason
  const code = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
  return new GatewayError('upstream_transport', `${what}${code}`, { cause: error })
}

/** The body as it comes, each piece of it a sign of life. */
async function* watched({ body }: Response, call: ProviderCall) {
  if (body === null) return
  try {
    for await (const piece of body) {
      call.alive()
      yield piece
    }
  } catch (error) {
    throw transportError(call, 'the connection to the provider broke', error)
  }
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
        throw transportError(call, 'the provider could not be reached', error)
      }
      call.alive()
      return { status: response.status, headers: response.headers, body: watched(response, call) }
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
