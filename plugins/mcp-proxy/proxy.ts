import type { ConfigLease } from 'model-gateway/host'
import { OutboundError } from 'model-gateway/http'
import { mayBeRevoked, type Principal } from 'model-gateway/identity'
import { GatewayError, nextTurn } from 'model-gateway/plugin'
import { credentialForms, LiveSet } from 'model-gateway/wire'
import { mayUse, mcpKey } from './access.ts'
import { authHeadersOf } from './auth-headers.ts'
import type { McpAudit, McpGatewayAuthMode, McpServer } from './contract.ts'
import { errorReply, errors, invalidMessage, readFailure } from './errors.ts'
import type { McpCall, McpIncoming, McpReply, McpServices } from './exchange.ts'
import { guardCall, type Passed } from './guard.ts'
import { isUtf8, requestHeaders, withChangedArguments } from './headers.ts'
import { closeCancelled, type Invocation, openInvocation } from './invocation.ts'
import {
  cancelledId,
  faultOf,
  type RpcMessage,
  readMessage,
  rpcCodes,
  toolCallOf,
} from './json-rpc.ts'
import { offeredOnly } from './offered.ts'
import { requireOwnOrigin } from './origin.ts'
import { replyOf } from './reply.ts'
import { createWatches, type McpWatch } from './watch.ts'

/** What is known of a request so far, for the response if it fails. */
interface Reached {
  readonly lease: ConfigLease
  readonly watch: McpWatch
  readonly traceparent: string | undefined
  principal?: Principal
  server?: McpServer
  /** JSON; known when a message has been read. */
  idText?: string | undefined
  invocation?: Invocation
  finished(): void
}

export interface McpProxy {
  /** One request from door to door. Never rejects. */
  handle(incoming: McpIncoming): Promise<McpReply>
  /** Ends streams of unsolicited server messages, which do not end by themselves. */
  endStreams(): void
}

/** The proxy of registered MCP servers. */
export function createMcpProxy(services: McpServices): McpProxy {
  const listening = new LiveSet<() => void>()
  const watched = createWatches()

  async function handle(incoming: McpIncoming): Promise<McpReply> {
    const traced = services.trace(incoming)
    const lease = services.lease()
    const reached = begin(lease, watched(incoming.callerLeft), traced.traceparent)
    let reply: McpReply
    let errorCode: string | undefined
    let left = false
    try {
      reply = await proxy(incoming, reached, services, listening)
    } catch (thrown) {
      const error = readFailure(thrown, (fault) =>
        services.fault('an MCP request failed', fault, incoming.requestId),
      )
      left = reached.watch.hasLeft()
      if (left) reached.invocation?.close('cancelled')
      else reached.invocation?.failed(error)
      reached.watch.upstream.abort(error)
      reached.finished()
      errorCode = left ? 'client_abort' : error.code
      reply = errorReply(error, incoming.requestId, reached.idText)
    }
    const { server, principal } = reached
    traced.finished({
      statusCode: left ? undefined : reply.status,
      errorCode,
      server,
      ownerKind: principal?.owner.kind,
    })
    return reply
  }

  return {
    handle,
    endStreams() {
      for (const end of [...listening]) end()
    },
  }
}

async function proxy(
  incoming: McpIncoming,
  reached: Reached,
  services: McpServices,
  listening: LiveSet<() => void>,
): Promise<McpReply> {
  requireOwnOrigin(incoming, services)
  let principal = await authenticate(incoming, services)
  reached.principal = principal
  const body = incoming.method === 'POST' ? await incoming.body() : undefined
  if (mayBeRevoked(incoming)) principal = await authenticate(incoming, services)
  if (body !== undefined) requireUtf8(incoming)
  await nextTurn()
  const { server, audit } = findServer(incoming, principal, services)
  reached.server = server
  const mode = requireGatewayAuth(server, services)
  const message = body === undefined ? undefined : readMessage(body)
  reached.idText = message?.idText
  const call = message && toolCallOf(message)
  const sessionId = incoming.header('mcp-session-id') || undefined
  const { guards } = reached.lease
  const policy = guards?.forServer(server.serverKey)
  const guarded = policy?.covers('mcp_call') === true
  const fault = message && faultOf(message, call, incoming.header, guarded)
  let secrets: readonly string[] = []
  if (message !== undefined && call !== undefined) {
    const facts = { incoming, principal, server, sessionId, message, call, guarded }
    reached.invocation = await openInvocation(audit, facts, () => secrets)
  }
  if (fault !== undefined) throw invalidMessage(fault)
  if (call !== undefined) requireOffered(server, call.tool)
  if (sessionId !== undefined) await requireOwnSession(sessionId, principal, server, audit)
  const { requestId } = incoming
  const facts = { server, principal, requestId, invocation: reached.invocation }
  const passed: Passed | undefined =
    message === undefined || call === undefined || policy === undefined
      ? message
      : await guardCall(policy, message, call, facts)
  const authHeaders = await authHeadersOf(mode, server, reached.watch)
  secrets = credentialForms(Object.values(authHeaders))
  const mcpCall: McpCall = {
    incoming,
    principal,
    server,
    audit,
    sessionId,
    text: passed?.text,
    headers:
      passed?.changed === undefined
        ? incoming.headers
        : withChangedArguments(incoming.headers, call?.arguments, passed.changed),
    request: requestOf(message),
    idText: message?.idText,
    invocation: reached.invocation,
    guards,
    resultGuard: policy?.covers('mcp_result') === true ? policy : undefined,
    secrets,
    watch: reached.watch,
    finished: reached.finished,
  }
  const response = await send(mcpCall, authHeaders, reached.traceparent, services)
  noteCancellation(message, mcpCall, services)
  return await replyOf(mcpCall, offeredOnly(mcpCall, response), services, listening)
}

async function authenticate(
  incoming: McpIncoming,
  { identity, accounting }: McpServices,
): Promise<Principal> {
  const principal = await identity.authenticate(mcpKey(incoming.header), incoming)
  accounting?.checkOwner(principal)
  return principal
}

function begin(lease: ConfigLease, watch: McpWatch, traceparent: string | undefined): Reached {
  let over = false
  return {
    lease,
    watch,
    traceparent,
    finished() {
      if (over) return
      over = true
      watch.stop()
      lease.release()
    },
  }
}

/** Throws `invalid_request` for a charset that the server could decode differently. */
function requireUtf8({ header }: McpIncoming): void {
  if (isUtf8(header('content-type'))) return
  throw new GatewayError('invalid_request', 'content-type: the charset must be utf-8')
}

/** Throws the same error for a server that is unknown, disabled, or not allowed for this caller. */
function findServer(
  { serverKey }: McpIncoming,
  principal: Principal,
  { registry, audit }: McpServices,
) {
  const server = registry?.find(serverKey)
  if (server !== undefined && audit !== undefined && mayUse(server, principal)) {
    return { server, audit }
  }
  throw new GatewayError('not_found', 'no MCP server has this key')
}

/** Throws `mcp_tool_not_allowed`. */
function requireOffered(server: McpServer, tool: string): void {
  if (server.offers?.(tool) ?? true) return
  throw new GatewayError(
    errors.mcp_tool_not_allowed,
    `the tool ${JSON.stringify(tool)} of the MCP server ${server.serverKey} is not allowed; tools/list returns the allowed tools`,
  )
}

function requireGatewayAuth(
  { authMode }: McpServer,
  { authModes }: McpServices,
): McpGatewayAuthMode {
  const mode = authModes.find((known) => known.mode === authMode)
  if (mode?.kind === 'gateway') return mode
  if (mode === undefined) throw new GatewayError('internal_error', 'the auth mode is not loaded')
  throw new GatewayError(
    errors.mcp_upstream_auth_required,
    'the server requires credentials of the caller, which this gateway cannot forward',
  )
}

/** A session belongs to its owner; for other callers it does not exist. */
async function requireOwnSession(
  sessionId: string,
  { ownershipScopeKey }: Principal,
  { mcpServerId }: McpServer,
  audit: McpAudit,
): Promise<void> {
  const binding = await audit.ownerOf(mcpServerId, sessionId)
  if (binding?.ownershipScopeKey === ownershipScopeKey) return
  throw new GatewayError('not_found', 'the session does not exist', {
    details: { rpc_code: rpcCodes.sessionNotFound },
  })
}

function requestOf(message: RpcMessage | undefined): McpCall['request'] {
  if (message?.kind !== 'request' || message.method === undefined) return undefined
  return message.id === undefined ? undefined : { id: message.id, method: message.method }
}

async function send(
  { incoming: { method, requestId }, server, text, headers, watch }: McpCall,
  authHeaders: Readonly<Record<string, string>>,
  traceparent: string | undefined,
  services: McpServices,
): Promise<Response> {
  watch.limit(server.timeoutMs, late)
  try {
    return await services.send(server.serverUrl, {
      method,
      headers: requestHeaders({ headers, requestId }, traceparent, authHeaders),
      ...(text === undefined ? {} : { body: text }),
      policy: server.addresses,
      signal: watch.upstream.signal,
    })
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    const code = error.fault === 'timeout' ? 'upstream_timeout' : 'upstream_transport'
    throw new GatewayError(code, error.message, { cause: error })
  } finally {
    watch.lift()
  }
}

function late(): OutboundError {
  return new OutboundError('timeout', 'the server did not answer in time')
}

/** Handles the cancellation of a call that was made on another connection. */
function noteCancellation(
  message: RpcMessage | undefined,
  { audit, server, sessionId, incoming }: McpCall,
  { fault }: McpServices,
): void {
  const id = message && cancelledId(message)
  if (id === undefined || sessionId === undefined) return
  audit
    .reopen({ serverId: server.mcpServerId, sessionId }, JSON.stringify(id))
    .then((handle) => handle && closeCancelled(handle))
    .catch((error) =>
      fault('closing the record of a cancelled tool call failed', error, incoming.requestId),
    )
}
