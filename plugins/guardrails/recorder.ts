import type { Meter } from '@opentelemetry/api'
import type { BatchRow } from '../_shared/batch-row.ts'
import { type Decision, encodeDecision } from './decision.ts'

const MILLISECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 50, 100, 500, 1_000, 5_000, 30_000, 120_000]

/** Counts decisions and queues them for writing, so that the request does not wait. */
export function createRecorder(meter: Meter, push: (row: BatchRow) => void) {
  const counter = meter.createCounter('gateway.guardrails.decisions', {
    unit: '{decision}',
    description: 'Decisions of guardrail packs and managed checks.',
  })
  const duration = meter.createHistogram('gateway.guardrails.decision.duration', {
    unit: 'ms',
    description: 'Duration of one guardrail pack or managed check.',
    advice: { explicitBucketBoundaries: MILLISECONDS },
  })
  return (decisions: readonly Decision[], configVersion: string): void => {
    for (const decision of decisions) {
      const { phase, evaluator, action, latencyMs } = decision
      counter.add(1, { phase, evaluator, action })
      duration.record(latencyMs, { phase, evaluator })
      push({ json: encodeDecision(decision, configVersion), payload: undefined })
    }
  }
}
