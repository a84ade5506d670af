import { attribute } from './span-export.ts'
import { parseTraceparent, randomHex, SERVER, spanText } from './trace.ts'

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
export function createMcpTracing(options: {
  readonly sampleRatio: number
  readonly add: (span: string) => void
}): (request: McpTracedRequest) => McpTraced {
  const { sampleRatio, add } = options
  return ({ method, receivedAt, requestId, header }) => {
    const parent = parseTraceparent(header('traceparent'))
    const traceId = parent?.traceId ?? randomHex(16)
    const spanId = randomHex(8)
    const kept = parent === undefined ? Math.random() < sampleRatio : parent.traceFlags !== 0
    if (!kept) return { traceparent: `00-${traceId}-${spanId}-00`, finished() {} }
    const above = parent === undefined ? '' : `,"parentSpanId":"${parent.spanId}"`
    return {
      traceparent: `00-${traceId}-${spanId}-01`,
      finished(outcome) {
        add(
          spanText({
            ids: `"traceId":"${traceId}","spanId":"${spanId}"${above}`,
            name: `${method} /mcp/{server_key}`,
            kind: SERVER,
            startedAt: receivedAt.getTime(),
            endedAt: Date.now(),
            failed: outcome.statusCode >= 500,
            attributes: attributesOf(requestId, outcome),
          }),
        )
      },
    }
  }
}

function attributesOf(requestId: string, outcome: McpTraceOutcome): string {
  const { statusCode, errorCode, serverId, serverKey, authMode, ownerKind } = outcome
  const optional = (key: string, value: string | undefined) =>
    value === undefined ? '' : `,${attribute(key, value)}`
  return (
    attribute('http.route', '/mcp/{server_key}') +
    `,${attribute('http.response.status_code', statusCode)}` +
    optional('gateway.request_id', requestId) +
    optional('gateway.mcp.server_id', serverId) +
    optional('gateway.mcp.server_key', serverKey) +
    optional('gateway.mcp.upstream_auth_mode', authMode) +
    optional('gateway.mcp.caller_owner_kind', ownerKind) +
    optional('error.type', errorCode)
  )
}
