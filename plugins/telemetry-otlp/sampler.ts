import { isSpanContextValid, TraceFlags, trace } from '@opentelemetry/api'
import type { NodeSDKConfiguration } from '@opentelemetry/sdk-node'

// Not exported by the SDK in a reachable place.
const DROP = 0
const KEEP = 2

/** Keeps a trace if its parent is kept; of traces that start here, keeps the share `ratio`. */
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
