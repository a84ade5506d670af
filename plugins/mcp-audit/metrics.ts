import type { Meter } from '@opentelemetry/api'
import type { McpInvocationResult } from 'model-gateway/plugin'

const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

/** Counts tool calls as they are closed. */
export function createMetrics(meter: Meter) {
  const counter = meter.createCounter('gateway.mcp.tool_invocations', {
    unit: '{call}',
    description: 'Tool calls through the MCP proxy.',
  })
  const duration = meter.createHistogram('gateway.mcp.tool_invocation.duration', {
    unit: 's',
    description: 'Time from the arrival of a tool call to its result.',
    advice: { explicitBucketBoundaries: SECONDS },
  })
  return (
    serverId: string,
    { status, policyResult }: Pick<McpInvocationResult, 'status' | 'policyResult'>,
    latencyMs?: number,
  ): void => {
    counter.add(1, { server_id: serverId, status, policy_result: policyResult })
    if (latencyMs !== undefined) duration.record(latencyMs / 1000, { server_id: serverId, status })
  }
}
