import { GatewayError } from 'model-gateway/plugin'
import { upstreamHttpError } from 'model-gateway/provider'
import { type LiveSet, maskCredentials, maskForms } from 'model-gateway/wire'
import { errorReply } from './errors.ts'
import type { McpCall, McpReply, McpServices } from './exchange.ts'
import { guardErrorText } from './guard.ts'
import { givesResult, guardedEvents, guardedReply } from './guarded-reply.ts'
import { essence, responseHeaders } from './headers.ts'
import { isListening, mayListen } from './listening.ts'
import {
  fellSilent,
  passOn,
  readBeginning,
  readWhole,
  type Source,
  upstreamFailure,
} from './stream.ts'
import { closeUnanswered, createTap, hearError, hearWhole } from './tap.ts'

/** Bodies up to this size are forwarded whole if that causes no wait. */
const WHOLE_BYTES = 64 * 1024
/** Longest body of an error that is passed on. */
const ERROR_BYTES = 64 * 1024

/** Converts the server's reply to the reply for the caller. Throws GatewayError. */
export async function replyOf(
  call: McpCall,
  response: Response,
  services: McpServices,
  listening: LiveSet<() => void>,
): Promise<McpReply> {
  const { status } = response
  if (!mayPass(status)) {
    throw upstreamHttpError(status, `the server answered with status ${status}`)
  }
  const minted = newSession(call, response)
  if (minted !== undefined) {
    const { audit, server, principal } = call
    const { mcpServerId: serverId } = server
    await audit.bind(minted, { serverId, ownershipScopeKey: principal.ownershipScopeKey })
  }
  forgetSession(call, response)
  const head = {
    status,
    headers: {
      ...responseHeaders(response.headers),
      'cache-control': 'no-store',
      'x-request-id': call.incoming.requestId,
    },
  }
  if (isEmpty(response)) return withoutBody(call, head)
  const events = essence(response.headers.get('content-type')) === 'text/event-stream'
  // Before `body` is read, because that creates the stream.
  if (status < 400 && !events && call.resultGuard === undefined && isSmall(response)) {
    const bytes = await wholeBody(call, response, services)
    hearWhole(call, bytes, events, services)
    return finish(call, { ...head, body: bytes })
  }
  const { body } = response
  if (body === null) return withoutBody(call, head)
  if (status >= 400) {
    const text = await errorText(call, body, services)
    if (text !== undefined) hearError(call, text)
    closeWithoutResult(call, status)
    if (text !== undefined) return finish(call, { ...head, body: text })
    const error = upstreamHttpError(status, 'the error response of the server is too long')
    const { headers, body: told } = errorReply(error, call.incoming.requestId, call.idText)
    return finish(call, { status, headers: { ...head.headers, ...headers }, body: told })
  }

  if (call.resultGuard !== undefined && !(events && call.invocation === undefined)) {
    const guarded = await guardedReply(call, { body, events }, services)
    return finish(call, { ...head, body: guarded })
  }
  if (call.incoming.method === 'GET' || call.resultGuard !== undefined) {
    return { ...head, body: streamed(call, body.getReader(), events, services, listening) }
  }
  const begun = await readBeginning(body, WHOLE_BYTES, call.watch.upstream)
  if ('rest' in begun) {
    return { ...head, body: streamed(call, begun.rest, events, services, listening) }
  }
  hearWhole(call, begun.whole, events, services)
  return finish(call, { ...head, body: begun.whole })
}

/**
 * Redirects, invalid statuses and 401 or 403 for the gateway's own credentials are not forwarded.
 */
function mayPass(status: number): boolean {
  if (status === 401 || status === 403) return false
  return (status >= 200 && status < 300) || (status >= 400 && status < 600)
}

/** Throws `upstream_timeout` if the body does not arrive within the maximum silence. */
async function wholeBody(
  { watch }: McpCall,
  response: Response,
  { limits }: McpServices,
): Promise<Uint8Array<ArrayBuffer>> {
  watch.limit(limits.idleMs, fellSilent)
  try {
    return new Uint8Array(await response.arrayBuffer())
  } catch (error) {
    throw upstreamFailure(error, watch.upstream)
  } finally {
    watch.lift()
  }
}

function streamed(
  call: McpCall,
  source: Source,
  events: boolean,
  services: McpServices,
  listening: LiveSet<() => void>,
): ReadableStream<Uint8Array> {
  const { watch } = call
  const unasked = isListening(call)
  const tap = call.resultGuard === undefined ? createTap(call, events, services) : undefined
  const guarded = call.resultGuard === undefined ? undefined : guardedEvents(call, services)
  const { stream, end } = passOn(source, {
    limits: services.limits,
    whenLeft: watch.whenLeft,
    upstream: watch.upstream,
    events,
    ...(unasked && { mayGoOn: () => mayListen(call, services) }),
    pass(bytes) {
      if (guarded !== undefined) return guarded(bytes)
      tap?.add(bytes)
      return bytes
    },
    over(ending) {
      if (place !== undefined) listening.delete(place)
      // If the caller left before the stream began, the stream only sees a broken connection.
      tap?.over(ending === 'broken' && watch.hasLeft() ? 'left' : ending)
      call.incoming.streamEnded()
      call.finished()
    },
  })
  const place = unasked ? listening.add(end) : undefined
  return stream
}

function finish(call: McpCall, reply: McpReply): McpReply {
  call.finished()
  return reply
}

function withoutBody(call: McpCall, head: Omit<McpReply, 'body'>): McpReply {
  closeWithoutResult(call, head.status)
  return finish(call, { ...head, body: null })
}

function closeWithoutResult(call: McpCall, status: number): void {
  if (status >= 400) call.invocation?.close('upstream_error', `http_${status}`)
  else closeUnanswered(call, 'ended')
}

function isEmpty({ status, headers }: Response): boolean {
  return status === 204 || headers.get('content-length') === '0'
}

/**
 * Whether the body has a known, small length. `fetch` has decoded compressed bodies, so that their
 * length is unknown.
 */
function isSmall({ headers }: Response): boolean {
  const declared = headers.get('content-length')
  return declared !== null && Number(declared) <= WHOLE_BYTES && !headers.has('content-encoding')
}

/** The session that this reply starts. Clients treat an empty id as no session. */
function newSession({ sessionId }: McpCall, { headers, ok }: Response): string | undefined {
  const minted = headers.get('mcp-session-id') || undefined
  return ok && minted !== sessionId ? minted : undefined
}

/** Forgets a session that has ended. */
function forgetSession(call: McpCall, { status, ok }: Response): void {
  const { audit, incoming, server, sessionId } = call
  if (sessionId === undefined) return
  const { method } = incoming
  // A server may not support GET, and many then answer 404 instead of 405.
  if ((status === 404 && method !== 'GET') || (ok && method === 'DELETE')) {
    audit.unbind(server.mcpServerId, sessionId)
  }
}

/**
 * The body of an error, with credentials masked because it may repeat the request. Undefined if it
 * is too long.
 */
async function errorText(
  call: McpCall,
  body: ReadableStream<Uint8Array>,
  services: McpServices,
): Promise<string | undefined> {
  const { secrets, invocation } = call
  const { upstream } = call.watch
  const { idleMs } = services.limits
  const tooLong = new GatewayError('upstream_transport', 'the response of the server is too large')
  let bytes: Uint8Array
  try {
    bytes = await readWhole(body, {
      maxBytes: ERROR_BYTES,
      idleMs,
      upstream,
      tooLarge: () => tooLong,
    })
  } catch (error) {
    if (error !== tooLong) throw error
    upstream.abort(tooLong)
    return undefined
  }
  let text = maskCredentials(maskForms(new TextDecoder().decode(bytes), secrets))
  if (givesResult(call)) text = await guardErrorText(call, text)
  invocation?.sent(Buffer.byteLength(text))
  return text
}
