import { compilePaths, type PathNode } from '../_shared/redaction-paths.ts'
import type { PayloadSettings } from './config.ts'

/** What was decided about payloads. */
export interface PayloadPolicy {
  /** As it stands in the `metadata_json` of every row. */
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

/** Config versions that are remembered; more are never served at once. */
const REMEMBERED = 16

/** The policy of each config version: a request is logged under the config that it began with. */
export interface Policies {
  accept(configVersion: string, policy: PayloadPolicy): void
  /** The latest one for a version that is not known. */
  of(configVersion: string): PayloadPolicy
  latest(): PayloadPolicy
}

export function createPolicies(first: PayloadPolicy): Policies {
  const known = new Map<string, PayloadPolicy>()
  let latest = first
  return {
    accept(configVersion, policy) {
      latest = policy
      known.delete(configVersion)
      known.set(configVersion, policy)
      for (const oldest of known.keys()) {
        if (known.size <= REMEMBERED) break
        known.delete(oldest)
      }
    },
    of: (configVersion) => known.get(configVersion) ?? latest,
    latest: () => latest,
  }
}
