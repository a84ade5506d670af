import { type AddressPolicy, type Outbound, OutboundError } from 'model-gateway/http'
import { GatewayError, isJsonObject, type JsonObject } from 'model-gateway/plugin'
import { decodeSse } from 'model-gateway/wire'
import { DiscoveryFailure } from './failure.ts'

/** Maximum bytes of one reply. */
const MAX_REPLY_BYTES = 2 * 1024 * 1024
const END_TIMEOUT_MS = 5_000

export interface Endpoint {
  readonly serverUrl: string
  readonly addresses: AddressPolicy
  /** Timeout of one reply in milliseconds, from the call to the end of the body. */
  readonly timeoutMs: number
  /** Credential headers of the gateway. */
  readonly headers: Readonly<Record<string, string>>
}

/** A JSON-RPC response and its HTTP status. */
export interface RpcReply {
  readonly status: number
  readonly sessionId: string | undefined
  readonly result: JsonObject | undefined
  readonly errorCode: number | undefined
}

export interface Connection {
  /** Calls a method. Throws DiscoveryFailure without a JSON-RPC response. */
  request(
    method: string,
    params: JsonObject,
    headers: Readonly<Record<string, string>>,
  ): Promise<RpcReply>
  notify(method: string, headers: Readonly<Record<string, string>>): Promise<void>
  /** Ends a session; errors are ignored. */
  end(headers: Readonly<Record<string, string>>): Promise<void>
}

/**
 * The part of Streamable HTTP that discovery needs. `signal` aborts everything except the end of
 * the session.
 */
export function openConnection(
  outbound: Outbound,
  endpoint: Endpoint,
  signal: AbortSignal,
): Connection {
  let lastId = 0

  async function call<T>(
    init: { method: string; body?: string; headers: Readonly<Record<string, string>> },
    timeoutMs: number,
    ends: AbortSignal,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const limit = AbortSignal.timeout(timeoutMs)
    try {
      const response = await outbound.fetch(endpoint.serverUrl, {
        ...init,
        headers: { 'user-agent': 'model-gateway', ...init.headers, ...endpoint.headers },
        policy: endpoint.addresses,
        headersTimeoutMs: timeoutMs,
        signal: AbortSignal.any([ends, limit]),
      })
      try {
        return await read(response)
      } finally {
        // Cancel the rest of the body, which would keep the connection open.
        response.body?.cancel().catch(() => {})
      }
    } catch (error) {
      throw failureOf(error, limit, ends)
    }
  }

  function post(message: JsonObject, headers: Readonly<Record<string, string>>) {
    return {
      method: 'POST',
      body: JSON.stringify(message),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
    }
  }

  return {
    request(method, params, headers) {
      const id = ++lastId
      const message = { jsonrpc: '2.0', id, method, params }
      return call(post(message, headers), endpoint.timeoutMs, signal, async (response) => {
        const reply = await readReply(response, id, method)
        return { ...reply, sessionId: response.headers.get('mcp-session-id') ?? undefined }
      })
    },
    notify(method, headers) {
      const message = { jsonrpc: '2.0', method }
      return call(post(message, headers), endpoint.timeoutMs, signal, async ({ status }) => {
        if (status < 200 || status > 299) throw unexpectedStatus(method, status)
      })
    },
    async end(headers) {
      const ended = call(
        { method: 'DELETE', headers },
        Math.min(END_TIMEOUT_MS, endpoint.timeoutMs),
        AbortSignal.timeout(END_TIMEOUT_MS),
        async () => {},
      )
      await ended.catch(() => {})
    },
  }
}

async function readReply(
  response: Response,
  id: number,
  method: string,
): Promise<Omit<RpcReply, 'sessionId'>> {
  const { status } = response
  const refused = status < 200 || status > 299
  const type = response.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  let message: JsonObject | undefined
  if (type === 'application/json') message = await readMessage(response, id, refused)
  else if (type === 'text/event-stream' && !refused) message = await readEvents(response, id)
  else if (!refused) {
    throw new DiscoveryFailure(
      `unsupported protocol: ${method} was answered with status ${status} and neither JSON nor an event stream`,
      status,
    )
  }
  if (message === undefined) {
    if (refused) throw unexpectedStatus(method, status)
    throw new DiscoveryFailure(
      `unsupported protocol: ${method} was not answered with a JSON-RPC response`,
      status,
    )
  }
  const { result, error } = message
  if (isJsonObject(error) && typeof error.code === 'number') {
    return { status, result: undefined, errorCode: error.code }
  }
  if (!refused && isJsonObject(result)) return { status, result, errorCode: undefined }
  throw refused
    ? unexpectedStatus(method, status)
    : new DiscoveryFailure(
        `unsupported protocol: ${method} was answered with neither a result nor an error`,
        status,
      )
}

/**
 * The response in a JSON body. An error may have no id, because the server may not have understood
 * the request.
 */
async function readMessage(
  response: Response,
  id: number,
  refused: boolean,
): Promise<JsonObject | undefined> {
  const pieces: Uint8Array[] = []
  for await (const piece of capped(response)) pieces.push(piece)
  const message = parse(new TextDecoder().decode(Buffer.concat(pieces)))
  if (!isJsonObject(message)) return undefined
  const anonymous = refused && (message.id === null || message.id === undefined)
  return message.id === id || anonymous ? message : undefined
}

async function readEvents(response: Response, id: number): Promise<JsonObject | undefined> {
  for await (const events of decodeSse(capped(response))) {
    for (const { data } of events) {
      const message = parse(data)
      // Notifications and the server's own requests have a method.
      if (isJsonObject(message) && message.id === id && message.method === undefined) return message
    }
  }
  return undefined
}

async function* capped(response: Response): AsyncGenerator<Uint8Array> {
  let size = 0
  try {
    for await (const piece of response.body ?? []) {
      size += piece.byteLength
      if (size > MAX_REPLY_BYTES) {
        throw new DiscoveryFailure('a reply of the server is larger than 2 MiB', response.status)
      }
      yield piece
    }
  } catch (error) {
    if (error instanceof DiscoveryFailure) throw error
    throw new OutboundError('transport', 'the connection closed before the reply ended', {
      cause: error,
    })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function unexpectedStatus(method: string, status: number): DiscoveryFailure {
  const hint = status >= 300 && status < 400 ? ', a redirect; set server_url to its target' : ''
  return new DiscoveryFailure(
    `upstream error: ${method} was answered with status ${status}${hint}`,
    status,
  )
}

const FAULTS = {
  invalid_url: 'invalid URL',
  address_refused: 'address refused',
  unresolvable: 'unreachable',
  timeout: 'timeout',
  transport: 'unreachable',
} as const satisfies Record<OutboundError['fault'], string>

function failureOf(error: unknown, limit: AbortSignal, ends: AbortSignal): unknown {
  if (error instanceof DiscoveryFailure) return error
  // Check the timeout first, because an abort also looks like other errors.
  if (ends.aborted) return ends.reason
  if (limit.aborted) return new DiscoveryFailure('timeout: a reply was not complete in time')
  if (error instanceof OutboundError) {
    return new DiscoveryFailure(`${FAULTS[error.fault]}: ${error.message}`)
  }
  if (error instanceof GatewayError) {
    return new DiscoveryFailure(`invalid reply: ${error.message}`)
  }
  return error
}
