import { compilePaths, type PathNode } from '../_shared/redaction-paths.ts'
import type { PayloadSettings } from './config.ts'

/** The payload policy of a config. */
export interface PayloadPolicy {
  /** As in the `metadata_json` of every row. */
  readonly wire: {
    readonly capture_mode: PayloadSettings['capture_mode']
    readonly request_max_bytes: number
    readonly response_max_bytes: number
    readonly stream_max_events: number
    readonly version: 'builtin:v1'
  }
  readonly paths: PathNode | undefined
}

export function payloadPolicy(settings: PayloadSettings): PayloadPolicy {
  const { redaction_paths, ...limits } = settings
  return { wire: { ...limits, version: 'builtin:v1' }, paths: compilePaths(redaction_paths) }
}
