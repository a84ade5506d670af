import type { McpFollower, McpObservedRequest, McpOutcome } from 'model-gateway/mcp'
import { parseTraceparent } from 'model-gateway/wire'
import { also, attribute, keptTexts } from './otlp-json.ts'
import { randomHex, SERVER, spanText } from './trace.ts'

/** A span for each attempt, from its arrival to the head of its reply, as a child of the caller's. */
export function createMcpTracing(options: {
  readonly sampleRatio: number
  readonly add: (span: string) => void
}): (request: McpObservedRequest) => Required<McpFollower> {
  const { sampleRatio, add } = options
  return ({ method, receivedAt, requestId, header }) => {
    const parent = parseTraceparent(header('traceparent'))
    const random = randomHex(24)
    const traceId = parent?.traceId ?? random.slice(16)
    const spanId = random.slice(0, 16)
    const kept = parent === undefined ? Math.random() < sampleRatio : parent.sampled
    if (!kept) return { traceparent: `00-${traceId}-${spanId}-00`, finished() {} }
    const began = performance.now()
    const above = parent === undefined ? '' : `,"parentSpanId":"${parent.spanId}"`
    return {
      traceparent: `00-${traceId}-${spanId}-01`,
      finished(outcome) {
        add(
          spanText({
            ids: `"traceId":"${traceId}","spanId":"${spanId}"${above}`,
            name: `"${method} /mcp/{server_key}"`,
            kind: SERVER,
            startedAt: receivedAt.getTime(),
            endedAt: receivedAt.getTime() + performance.now() - began,
            failed: outcome.statusCode !== undefined && outcome.statusCode >= 500,
            attributes: attributesOf(method, requestId, outcome),
          }),
        )
      },
    }
  }
}

function attributesOf(method: string, requestId: string, outcome: McpOutcome): string {
  return outcomeAttributes(method, outcome) + also('gateway.request_id', requestId)
}

const outcomeTexts = keptTexts()

function outcomeAttributes(method: string, outcome: McpOutcome): string {
  const { statusCode, errorCode, server, ownerKind } = outcome
  const { mcpServerId, serverKey, authMode } = server ?? {}
  const key = `${method}\0${mcpServerId}\0${serverKey}\0${authMode}\0${statusCode}\0${ownerKind}\0${errorCode}`
  return outcomeTexts(key, () => [
    attribute('http.request.method', method),
    also('http.route', '/mcp/{server_key}'),
    also('http.response.status_code', statusCode),
    also('gateway.mcp.server_id', mcpServerId),
    also('gateway.mcp.server_key', serverKey),
    also('gateway.mcp.upstream_auth_mode', authMode),
    also('gateway.mcp.caller_owner_kind', ownerKind),
    also('error.type', errorCode),
  ])
}
