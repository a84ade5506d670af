import { SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import { note, parentOf, parseTraceparent, traceparentOf } from './trace.ts'

/** As much of a request to the MCP proxy as its trace needs. */
export interface McpTracedRequest {
  readonly method: string
  readonly receivedAt: Date
  readonly requestId: string
  header(name: string): string | null
}

/** What is told of it: names and numbers of ours, nothing that a caller or a server wrote. */
export interface McpTraceOutcome {
  readonly statusCode: number
  readonly errorCode?: string | undefined
  readonly serverId?: string | undefined
  readonly serverKey?: string | undefined
  readonly authMode?: string | undefined
  readonly ownerKind?: string | undefined
}

export interface McpTraced {
  /** The W3C trace context that goes to the server. */
  readonly traceparent: string | undefined
  /** The head of the reply is known. */
  finished(outcome: McpTraceOutcome): void
}

/** Without traces of our own: the caller's trace context goes on as it is. */
export function passMcpTraceOn({ header }: McpTracedRequest): McpTraced {
  const traceparent = header('traceparent')
  return {
    traceparent: parseTraceparent(traceparent) === undefined ? undefined : (traceparent as string),
    finished() {},
  }
}

/** A span for each attempt, from its arrival to the head of its reply, as a child of the caller's. */
export function createMcpTracing(tracer: Tracer): (request: McpTracedRequest) => McpTraced {
  return ({ method, receivedAt, requestId, header }) => {
    const span = tracer.startSpan(
      `${method} /mcp/{server_key}`,
      { kind: SpanKind.SERVER, startTime: receivedAt },
      parentOf(header('traceparent')),
    )
    return {
      traceparent: traceparentOf(span),
      finished({ statusCode, errorCode, serverId, serverKey, authMode, ownerKind }) {
        note(span, 'http.route', '/mcp/{server_key}')
        note(span, 'http.response.status_code', statusCode)
        note(span, 'gateway.request_id', requestId)
        note(span, 'gateway.mcp.server_id', serverId)
        note(span, 'gateway.mcp.server_key', serverKey)
        note(span, 'gateway.mcp.upstream_auth_mode', authMode)
        note(span, 'gateway.mcp.caller_owner_kind', ownerKind)
        note(span, 'error.type', errorCode)
        if (statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
        span.end()
      },
    }
  }
}
