import type { ConfigSnapshot } from 'model-gateway/host'
import { configSection, type Static, Type } from 'model-gateway/plugin'
import { compilePaths, type PathNode } from '../_shared/redaction-paths.ts'

/** Maximum stored size per side of a call; lower limits of the request log apply, too. */
const SIDE_BYTES = 16 * 1024

const DAY_MS = 86_400_000

/** The part of the registry's section that this plugin needs. */
const mcp = configSection('mcp', Type.Object({ audit_retention: Type.String() }))

/** Retention of rows in milliseconds; Infinity without a registry, which has the setting. */
export function retentionMs(snapshot: ConfigSnapshot): number {
  const section: Static<(typeof mcp)['schema']> | undefined = snapshot.section(mcp)
  if (section === undefined) return Number.POSITIVE_INFINITY
  return Number.parseInt(section.audit_retention, 10) * DAY_MS
}

export interface PayloadPolicy {
  readonly captures: boolean
  readonly requestMaxBytes: number
  readonly responseMaxBytes: number
  readonly paths: PathNode | undefined
}

export const noPayloads: PayloadPolicy = {
  captures: false,
  requestMaxBytes: SIDE_BYTES,
  responseMaxBytes: SIDE_BYTES,
  paths: undefined,
}

/** The part of the request log's section that this plugin needs; another plugin owns it. */
const requestLogging = configSection(
  'request_logging',
  Type.Object({
    payloads: Type.Object({
      capture_mode: Type.String(),
      request_max_bytes: Type.Integer(),
      response_max_bytes: Type.Integer(),
      redaction_paths: Type.Array(Type.String()),
    }),
  }),
)

/** The payload settings of a config. */
export function payloadPolicy(snapshot: ConfigSnapshot): PayloadPolicy {
  const { payloads } = snapshot.section(requestLogging)
  return {
    captures: payloads.capture_mode === 'redacted_payloads',
    requestMaxBytes: Math.min(SIDE_BYTES, payloads.request_max_bytes),
    responseMaxBytes: Math.min(SIDE_BYTES, payloads.response_max_bytes),
    paths: compilePaths(payloads.redaction_paths),
  }
}
