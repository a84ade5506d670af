import { type Egress, GatewayError, OutboundError, type ProviderCall } from '../plugin/index.ts'
import { readBytes } from '../wire/read-bytes.ts'
import { codeOf } from './connect.ts'
import { createGate, type Gate } from './gate.ts'

/** Why the call failed, in words that name no address. */
function transportError(call: ProviderCall, what: string, error: unknown): unknown {
  if (call.signal.aborted) return call.signal.reason
  const cause = error instanceof OutboundError ? (error.cause ?? error) : error
  return new GatewayError('upstream_transport', `${what}${codeOf(cause)}`, { cause })
}

/**
 * The body as it comes, each piece of it a sign of life. Nothing of it is touched before the first
 * piece is asked for. By hand, because a generator costs two more turns for each piece.
 */
function watched(response: Response, call: ProviderCall): AsyncIterableIterator<Uint8Array> {
  // A reader costs a third less for each piece than iterating the stream itself.
  let reader: { read(): Promise<Piece>; cancel(): Promise<void> } | undefined
  let ended = false
  return {
    async next() {
      if (ended) return OVER
      reader ??= response.body?.getReader() ?? NO_BODY
      try {
        const piece = await reader.read()
        if (piece.done) {
          ended = true
          return OVER
        }
        call.alive()
        return piece
      } catch (error) {
        ended = true
        throw transportError(call, 'the connection to the provider broke', error)
      }
    },
    async return() {
      if (!ended) reader?.cancel().catch(() => {})
      ended = true
      return OVER
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

type Piece = { readonly done: true } | { readonly done: false; readonly value: Uint8Array }

const OVER = { done: true, value: undefined } as const
const NO_BODY = { read: async () => OVER, cancel: async () => {} }

/** Bodies of up to this length, by their own word, are looked at first. */
const SHORT_BYTES = 1 << 16

/**
 * A short body that came together with its headers, as nearly all do: pieces cost ten microseconds
 * more than all at once. A copy is asked for it: where something is still to come, the response itself
 * is read in pieces, each of them a sign of life.
 */
function bodyThatIsThere(response: Response, maxBytes: number): Promise<Uint8Array> | undefined {
  const { headers } = response
  const declared = Number(headers.get('content-length') ?? Number.NaN)
  const isShort = declared <= SHORT_BYTES && declared <= maxBytes
  if (!isShort || headers.has('content-encoding')) return undefined
  const whole = response.clone().bytes()
  if (Bun.peek.status(whole) === 'fulfilled') return whole
  whole.catch(() => {})
  return undefined
}

/** The whole body, counted as it is read: what its headers say is before decompression, if at all. */
function wholeBody(response: Response, call: ProviderCall): Promise<Uint8Array> {
  const { maxResponseBytes } = call
  const tooLarge = () =>
    new GatewayError(
      'upstream_transport',
      `the provider's reply is larger than ${maxResponseBytes} bytes (max_response_bytes)`,
    )
  return (
    bodyThatIsThere(response, maxResponseBytes) ??
    readBytes(watched(response, call), maxResponseBytes, tooLarge)
  )
}

/**
 * The gate as providers have it. Their URLs come from the operator, who may name any address; the
 * watchdog of the call keeps the time. `proxy` is the operator's, for these calls alone.
 */
export function createEgress(proxy: string | undefined, gate: Gate = createGate()): Egress {
  return {
    async send(call, url, { method = 'POST', headers, body }) {
      let response: Response
      try {
        response = await gate.send(url, {
          method,
          headers: {
            ...headers,
            ...(body instanceof Blob && { 'content-length': String(body.size) }),
            'x-request-id': call.requestId,
            ...(call.traceparent === undefined ? {} : { traceparent: call.traceparent }),
          },
          // Over TLS, Bun 1.4.5 reads a file as a whole before it sends it, and a stream piece by piece.
          ...(body === undefined ? {} : { body: body instanceof Blob ? body.stream() : body }),
          policy: 'operator',
          signal: call.signal,
          ...(proxy === undefined ? {} : { proxy }),
        })
      } catch (error) {
        throw transportError(call, 'the provider could not be reached', error)
      }
      call.alive()
      call.answered(response.headers, headers)
      return {
        status: response.status,
        headers: response.headers,
        body: watched(response, call),
        bytes: () => wholeBody(response, call),
      }
    },
  }
}

/**
 * Takes the proxy variables out of the environment: with one set, `fetch` connects to the proxy
 * even when it was given an address that had been checked.
 */
export function removeProxyVariables(env: Record<string, string | undefined>): void {
  for (const name of Object.keys(env)) {
    if (/^(?:https?|all|no)_proxy$/i.test(name)) delete env[name]
  }
}

/**
 * The engine starts the thread that makes calls with the first of them, and ends the process when there is
 * no file descriptor left for it by then. This one goes nowhere.
 */
export async function startCalling(): Promise<void> {
  await fetch('http://127.0.0.1:0').catch(() => {})
}
