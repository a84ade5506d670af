import type { Attributes, Meter } from '@opentelemetry/api'
import type { McpInvocationStatus, McpPolicyResult } from 'model-gateway/mcp'

const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

/**
 * Counters per label set. The label objects are frozen and reused, so that histograms can recognise
 * them.
 */
interface Count {
  calls: number
  readonly labels: Attributes
  readonly durationLabels: Attributes
}

/** Counts tool calls as they are closed. */
export function createMetrics(meter: Meter) {
  // Observed at export time, so that a call only increments a number.
  const counts = new Map<string, Count>()
  meter
    .createObservableCounter('gateway.mcp.tool_invocations', {
      unit: '{call}',
      description: 'Tool calls through the MCP proxy.',
    })
    .addCallback((observer) => {
      for (const { calls, labels } of counts.values()) observer.observe(calls, labels)
    })
  const duration = meter.createHistogram('gateway.mcp.tool_invocation.duration', {
    unit: 's',
    description: 'Duration of a tool call, from its arrival to its result.',
    advice: { explicitBucketBoundaries: SECONDS },
  })
  return (
    serverId: string,
    status: McpInvocationStatus,
    policyResult: McpPolicyResult,
    latencyMs?: number,
  ): void => {
    const key = `${status} ${policyResult} ${serverId}`
    let count = counts.get(key)
    if (count === undefined) {
      const durationLabels = Object.freeze({ server_id: serverId, status })
      const labels = { ...durationLabels, policy_result: policyResult }
      count = { calls: 0, labels, durationLabels }
      counts.set(key, count)
    }
    count.calls++
    if (latencyMs !== undefined) duration.record(latencyMs / 1000, count.durationLabels)
  }
}
