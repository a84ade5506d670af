import { defineErrors, GatewayError } from 'model-gateway/plugin'
import { callError, plainError } from 'model-gateway/wire'
import type { McpReply } from './exchange.ts'
import { RpcFault, rpcCodes } from './json-rpc.ts'
import { rpcErrorText } from './rpc-response.ts'

export const errors = defineErrors({
  mcp_upstream_auth_required: {
    status: 403,
    type: 'permission_error',
    when: 'the MCP server needs credentials of each caller',
    fix: 'send the header that the message names',
  },
  mcp_tool_not_allowed: {
    status: 403,
    type: 'permission_error',
    when: "the MCP server's tool rule hides this tool",
    fix: 'an admin allows the tool',
  },
  guardrail_timeout: {
    status: 504,
    type: 'guardrail_error',
    when: 'a guarded MCP result took longer than `stream_buffer_timeout_ms`',
    fix: 'raise the limit of the guardrail policy',
  },
})

/** An error for an invalid message, with its JSON-RPC code. */
export function invalidMessage({ code, message }: RpcFault): GatewayError {
  return new GatewayError('invalid_request', message, { details: { rpc_code: code } })
}

/** Converts any thrown value to an error for the caller; internal errors are passed to `fault`. */
export function readFailure(thrown: unknown, fault: (thrown: unknown) => void): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  if (thrown instanceof RpcFault) return invalidMessage(thrown)
  fault(thrown)
  return new GatewayError('internal_error', 'internal error; the gateway log has the request id', {
    cause: thrown,
  })
}

/** `idText`: JSON; set after a message was read, and from then on errors are JSON-RPC. */
export function errorReply(
  error: GatewayError,
  requestId: string,
  idText: string | undefined,
): McpReply {
  const rpcCode = error.details.rpc_code
  const headers = {
    ...error.headers,
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-request-id': requestId,
  }
  const body =
    idText === undefined && rpcCode === undefined
      ? JSON.stringify(plainError(callError(error), requestId).body)
      : rpcErrorText(idText ?? 'null', rpcError(error, requestId))
  return { status: error.status, headers, body }
}

/** The error member of a JSON-RPC reply. */
export function rpcError(error: GatewayError, requestId: string) {
  const { rpc_code: rpcCode, ...details } = error.details
  return {
    code:
      typeof rpcCode === 'number'
        ? rpcCode
        : error.code === 'internal_error'
          ? rpcCodes.internal
          : rpcCodes.gateway,
    message: error.message,
    data: { type: error.type, code: error.code, ...details, request_id: requestId },
  }
}
