import { storable } from '../../_shared/safe-text.ts'
import type { DiscoveredTool } from './tool.ts'

/** The outcome of a run, before the state of the server is checked again. */
export type Outcome =
  | {
      readonly status: 'success'
      readonly protocolVersion: string
      readonly tools: readonly DiscoveredTool[]
    }
  | {
      readonly status: 'failed' | 'auth_required' | 'disabled'
      readonly summary: string
      readonly upstreamStatus?: number | undefined
    }

/** The stored reason of a failed run; null after a success. */
export function summaryOf(outcome: Outcome): string | null {
  return outcome.status === 'success' ? null : storable(outcome.summary.slice(0, 512))
}
