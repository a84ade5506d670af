import type { CaptureMode } from './config.ts'

/** What was decided about payloads, as it stands in the `metadata_json` of every row. */
export interface PayloadPolicy {
  readonly capture_mode: CaptureMode
  readonly request_max_bytes: number
  readonly response_max_bytes: number
  readonly stream_max_events: number
  readonly version: 'builtin:v1'
}

export function payloadPolicy(captureMode: CaptureMode): PayloadPolicy {
  return {
    capture_mode: captureMode,
    request_max_bytes: 65_536,
    response_max_bytes: 65_536,
    stream_max_events: 128,
    version: 'builtin:v1',
  }
}

/** Config versions that are remembered; more are never served at once. */
const REMEMBERED = 16

/** The policy of each config version: a request is logged under the config that it began with. */
export interface Policies {
  accept(configVersion: string, policy: PayloadPolicy): void
  /** The latest one for a version that is not known. */
  of(configVersion: string): PayloadPolicy
}

export function createPolicies(): Policies {
  const known = new Map<string, PayloadPolicy>()
  let latest = payloadPolicy('summary_only')
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
  }
}
