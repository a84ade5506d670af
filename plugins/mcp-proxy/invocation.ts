import { GuardDenial } from 'model-gateway/guardrail'
import type { Principal } from 'model-gateway/identity'
import type { GatewayError, JsonObject, JsonValue } from 'model-gateway/plugin'
import { nextTurn } from 'model-gateway/plugin'
import { isTooDeep, maskForms } from 'model-gateway/wire'
import type {
  McpAudit,
  McpInvocationHandle,
  McpInvocationStatus,
  McpServer,
  McpVerdict,
} from './contract.ts'
import type { McpIncoming } from './exchange.ts'
import type { RpcMessage, ToolCall } from './json-rpc.ts'
import { errorCodeOf, statusOf } from './rpc-response.ts'

/** A running `tools/call` and its open row. */
export interface Invocation {
  readonly id: string
  /** A guard has allowed the call. */
  allowed(decisionId: string | undefined): void
  /** The arguments that are sent to the server, after the guard. */
  wentOn(args: JsonValue | undefined): void
  /** Counts the bytes that are sent to the caller. */
  sent(bytes: number): void
  /** Closes the row with the response of the server. */
  answered(response: JsonObject): void
  /** Closes the row with a failure. */
  failed(error: GatewayError): void
  /** Only the first closing counts. */
  close(status: McpInvocationStatus, errorCode?: string): void
  /** The response may arrive on another connection. No effect after a response. */
  leave(): void
}

export interface InvocationFacts {
  readonly incoming: McpIncoming
  readonly principal: Principal
  readonly server: McpServer
  readonly sessionId: string | undefined
  readonly message: RpcMessage
  readonly call: ToolCall
  /** A guard is to look at the arguments. */
  readonly guarded: boolean
}

/** Opens the row. Throws `store_unavailable`. */
export async function openInvocation(
  audit: McpAudit,
  { incoming, principal, server, sessionId, message, call, guarded }: InvocationFacts,
  /** Secrets, which must not be in a row. */
  secrets: () => readonly string[],
): Promise<Invocation> {
  const invocationId = Bun.randomUUIDv7()
  const handle = await audit.open({
    invocationId,
    requestId: incoming.requestId,
    jsonRpcId: message.id === undefined ? undefined : message.idText,
    sessionId,
    protocolVersion: incoming.header('mcp-protocol-version') ?? undefined,
    principal,
    serverId: server.mcpServerId,
    serverKey: server.serverKey,
    toolId: server.tools.get(call.tool),
    toolName: call.tool,
    arguments: call.arguments,
    awaitsVerdict: guarded,
  })
  let awaitsVerdict = guarded
  let responseBytes = 0
  /** Set at once, because the row is updated only in a later turn of the event loop. */
  let isClosed = false

  function close(status: McpInvocationStatus, errorCode?: string, result?: JsonValue): void {
    if (isClosed) return
    isClosed = true
    const outcome = {
      status,
      latencyMs: latencyOf(handle),
      responseBytes,
      ...(errorCode === undefined ? {} : { errorCode }),
      ...(result === undefined ? {} : { result }),
    }
    void nextTurn().then(() => handle.close(outcome))
  }

  return {
    id: invocationId,
    allowed(decisionId) {
      handle.judged({
        policyResult: 'allowed',
        ...(decisionId === undefined ? {} : { guardrailDecisionId: decisionId }),
      })
    },
    wentOn(args) {
      awaitsVerdict = false
      if (args !== undefined) handle.judged({ policyResult: 'allowed', arguments: args })
    },
    sent(bytes) {
      responseBytes += bytes
    },
    answered(response) {
      close(statusOf(response), errorCodeOf(response), keptResult(response, secrets()))
    },
    failed(error) {
      if (error instanceof GuardDenial) {
        handle.judged({
          ...denied(error),
          ...(awaitsVerdict ? { arguments: error.logged } : {}),
        })
      } else if (error.code === 'mcp_tool_not_allowed') {
        handle.judged({ policyResult: 'denied' })
      }
      close(statusOfFailure(error), error.code)
    },
    close,
    leave() {
      if (!isClosed) handle.leave()
    },
  }
}

/** Closes a row that another connection opened. */
export function closeReopened(
  handle: McpInvocationHandle,
  response: JsonObject,
  facts: {
    readonly guarded: boolean
    readonly denial: GuardDenial | undefined
    readonly bytes: number
    readonly secrets: readonly string[]
  },
): void {
  const { guarded, denial, bytes, secrets } = facts
  const row = { latencyMs: latencyOf(handle), responseBytes: bytes }
  if (denial !== undefined) {
    handle.judged(denied(denial))
    handle.close({ ...row, status: 'policy_denied', errorCode: denial.code })
    return
  }
  if (guarded) handle.judged({ policyResult: 'allowed' })
  const errorCode = errorCodeOf(response)
  const result = keptResult(response, secrets)
  handle.close({
    ...row,
    status: statusOf(response),
    ...(errorCode === undefined ? {} : { errorCode }),
    ...(result === undefined ? {} : { result }),
  })
}

/** Closes a row whose caller cancelled the call on another connection. */
export function closeCancelled(handle: McpInvocationHandle): void {
  handle.close({ status: 'cancelled', latencyMs: latencyOf(handle), responseBytes: 0 })
}

function denied({ details }: GuardDenial): McpVerdict {
  return { policyResult: 'denied', guardrailDecisionId: details.decision_id as string }
}

/** At least 0, because another replica with a faster clock may have opened the row. */
function latencyOf(handle: McpInvocationHandle): number {
  return Math.max(0, Date.now() - handle.openedAt.getTime())
}

/** If the response contains, or may contain, the gateway's credentials, nothing of it is stored. */
function keptResult(response: JsonObject, secrets: readonly string[]): JsonValue | undefined {
  const result = response.result ?? response.error
  if (result === undefined || secrets.length === 0) return result
  if (isTooDeep(result)) return undefined
  const text = JSON.stringify(result)
  return maskForms(text, secrets) === text ? result : undefined
}

function statusOfFailure(error: GatewayError): McpInvocationStatus {
  const upstream = error.details.upstream_status
  if (upstream === 401 || upstream === 403) return 'unauthorized'
  switch (error.type) {
    case 'guardrail_error':
      return error.code === 'guardrail_timeout' ? 'timeout' : 'policy_denied'
    case 'invalid_request_error':
      return error.code === 'guarded_response_too_large' ? 'policy_denied' : 'invalid_request'
    case 'not_found_error':
    case 'permission_error':
      return 'unauthorized'
    case 'upstream_error':
      return error.code === 'upstream_timeout' ? 'timeout' : 'upstream_error'
    default:
      return 'gateway_error'
  }
}
