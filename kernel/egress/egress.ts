import { type Egress, GatewayError, OutboundError, type ProviderCall } from '../plugin/index.ts'
import { readBytes } from '../wire/read-bytes.ts'
import { codeOf } from './connect.ts'
import { createGate, type Gate } from './gate.ts'

/** Why the call failed, without naming an address. */
function transportError(call: ProviderCall, what: string, error: unknown): unknown {
  if (call.signal.aborted) return call.signal.reason
  const cause = error instanceof OutboundError ? (error.cause ?? error) : error
  return new GatewayError('upstream_transport', `${what}${codeOf(cause)}`, { cause })
}

/**
 * The body in pieces as they arrive; each piece counts as a sign of life. Nothing is read before
 * the first piece is requested. Written by hand because a generator costs two more microtasks per
 * piece.
 */
function watched(response: Response, call: ProviderCall): AsyncIterableIterator<Uint8Array> {
  // A reader costs a third less per piece than iterating over the stream.
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

/** Bodies with at most this `content-length` are read at once if they have arrived. */
const SHORT_BYTES = 1 << 16

/**
 * Reads a short body at once if it arrived with its headers, as most do, because reading pieces
 * costs ten microseconds more. It reads a copy: if the body is not complete yet, the response
 * itself is read in pieces, each of which counts as a sign of life.
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

/** Reads the whole body and counts bytes: `content-length`, if any, is the compressed size. */
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
 * The gate for providers. Their URLs come from the operator, who may use any address, and the
 * watchdog of the call enforces timeouts. `proxy` is the operator's proxy for these calls only.
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
          // Over TLS, Bun 1.4.5 reads a whole file before it sends it, but streams piece by piece.
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
 * Removes proxy variables from the environment, because with one set `fetch` connects to the proxy
 * instead of the address that was checked.
 */
export function removeProxyVariables(env: Record<string, string | undefined>): void {
  for (const name of Object.keys(env)) {
    if (/^(?:https?|all|no)_proxy$/i.test(name)) delete env[name]
  }
}

/**
 * Makes one call that goes nowhere. Bun starts its HTTP thread with the first call and ends the
 * process if no file descriptor is free at that time, so the thread is started early.
 */
export async function startCalling(): Promise<void> {
  await fetch('http://127.0.0.1:0').catch(() => {})
}
