import { storable } from '../../_shared/safe-text.ts'
import type { DiscoveredTool } from './tool.ts'

/** How a run ended, before the state of the server has been looked at again. */
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

/** Why a run failed, as it is stored; null after a success. */
export function summaryOf(outcome: Outcome): string | null {
  return outcome.status === 'success' ? null : storable(outcome.summary.slice(0, 512))
}
