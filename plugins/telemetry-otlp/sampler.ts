import { isSpanContextValid, TraceFlags, trace } from '@opentelemetry/api'
import type { NodeSDKConfiguration } from '@opentelemetry/sdk-node'

// The SDK does not export these names where it can be reached.
const DROP = 0
const KEEP = 2

/** Keeps a trace when its parent is kept; of those that begin here, the part `ratio`. */
export function createSampler(ratio: number): NodeSDKConfiguration['sampler'] {
  return {
    shouldSample(context) {
      const parent = trace.getSpanContext(context)
      const keep =
        parent !== undefined && isSpanContextValid(parent)
          ? (parent.traceFlags & TraceFlags.SAMPLED) !== 0
          : Math.random() < ratio
      return { decision: keep ? KEEP : DROP }
    },
    toString: () => `ParentOrRatio{${ratio}}`,
  }
}
